import { expect, test } from "vitest";
import { isObject, objectOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, minorOf, platformBalanceOf, untilKnown } from "../support/client.ts";
import { assign, expectDone, newInvestor, newMaster, unassign } from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import * as shape from "../support/shape.ts";

const { amount, bool, decimalText, empty, exactly, integer, login, nullable, text, timestamp } = shape;

const ASSIGNED = {
  id: integer,
  master_id: integer,
  investor_id: integer,
  status: exactly("ACTIVE"),
  in_pool: exactly(true),
  started_at: timestamp,
  balance_baseline_op_id: integer,
  ended_at: empty,
  created_at: timestamp,
};
const LISTED = {
  id: integer,
  master_login: login,
  investor_login: login,
  status: text,
  in_pool: bool,
  started_at: timestamp,
  ended_at: nullable(timestamp),
};
const UNASSIGNED = {
  subscription: { what: "a subscription", accepts: (value: unknown) => typeof value === "object" },
  payout_enqueued: bool,
  mt5_transfer_id: nullable(integer),
  amount,
};
const CONFLICT = { status: 409, outcome: "not_executed" } as const;

export function subscriptionRoutes(client: () => Client): void {
  const list = (query: string) => client().get(`/api/v1/info/subscriptions?${query}`);

  test("the listings show an assigned Investor as active, then as paused, then as cancelled", async () => {
    const { login: master, id } = await newMaster(client(), "100");
    const investor = await newInvestor(client(), "150.25");

    const assigned = await assign(client(), master, investor);
    shape.expectReply(assigned, { ...ASSIGNED, master_id: exactly(Number(id)) });
    expect(shape.expectItems(await list(`master_login=${master}&status=ACTIVE`), LISTED)).toBe(1);
    expect(shape.expectItems(await list(`investor_login=${investor}`), LISTED)).toBe(1);
    const active = await client().get(`/api/v1/info/investor/${investor}/master`);
    shape.expectReply(active, { master_login: exactly(master), name: text, started_at: timestamp });
    const investors = await client().get(`/api/v1/info/master/${master}/investors`);
    const member = { id: integer, mt5_login: exactly(investor), name: text };
    expect(shape.expectItems(investors, member)).toBe(1);
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(minorOf("150.25")));

    const left = await unassign(client(), master, investor);
    shape.expectReply(left, { ...UNASSIGNED, payout_enqueued: exactly(true), amount: exactly(-150.25) });
    const subscription: unknown = (JSON.parse(left.text) as Record<string, unknown>)["subscription"];
    shape.expectShape(subscription, { ...LISTED, status: exactly("PAUSED"), in_pool: exactly(false), ended_at: empty });
    const again = await unassign(client(), master, investor);
    expectProblem(again, { ...CONFLICT, code: codeAfter(again.body["code"]) });

    await eventually(async () => expect((await list(`master_login=${master}&status=CANCELLED`)).items).toHaveLength(1));
    const ended = { ...LISTED, status: exactly("CANCELLED"), in_pool: exactly(false), ended_at: timestamp };
    expect(shape.expectItems(await list(`investor_login=${investor}`), ended)).toBe(1);
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(0n));
    expectProblem(await unassign(client(), master, investor), { ...CONFLICT, code: "subscription_not_active" });
    const none = await client().get(`/api/v1/info/investor/${investor}/master`);
    shape.expectReply(none, { master_login: empty, name: empty, started_at: empty });
  });

  test("an unassign of an Investor without money is cancelled at once, and pays nothing out", async () => {
    const { login: master } = await newMaster(client());
    const investor = await newInvestor(client());
    await expectDone(assign(untilKnown(client()), master, investor));

    const left = await unassign(client(), master, investor);
    const nothing = { payout_enqueued: exactly(false), mt5_transfer_id: empty, amount: exactly(0) };
    shape.expectReply(left, { ...UNASSIGNED, ...nothing });
    expect(textOf(objectOf(left.body, "subscription"), "status")).toBe("CANCELLED");
  });

  test("assign is refused below the minimum, twice, and with open positions", async () => {
    const { login: master } = await newMaster(client(), "100");
    const poor = await newInvestor(client(), "99.99");
    const members = { required: decimalText, actual: decimalText };
    expectProblem(await assign(client(), master, poor), { ...CONFLICT, code: "below_min_deposit", members });

    const rich = await newInvestor(client(), "1000");
    const position = { login: rich, symbol: "EURUSD", side: "buy", volume: "0.01" };
    const opened = await client().control("POST", "positions", position);
    const open = { open_positions: integer };
    expectProblem(await assign(client(), master, rich), {
      ...CONFLICT,
      code: "investor_has_open_positions",
      members: open,
    });
    await client().control("POST", `positions/${textOf(isObject(opened) ? opened : {}, "position")}/close`, {});
    await expectDone(assign(untilKnown(client()), master, rich));
    expectProblem(await assign(client(), master, rich), { ...CONFLICT, code: "already_subscribed" });
  });

  test("assign and unassign report wrong and missing fields", async () => {
    const { login: master } = await newMaster(client());
    const refused = { status: 422, code: "validation_failed", outcome: "not_executed" } as const;
    const wrong = { master_login: "x", investor_login: 5, perf_fee: { rate: 1.5, enabled: "yes" } };
    const fields = ["master_login", "investor_login", "perf_fee.rate", "perf_fee.enabled"];
    expectProblem(await client().post("/api/v1/investor/assign", wrong), { ...refused, fields });
    const missing = await client().post("/api/v1/investor/assign", {});
    expectProblem(missing, { ...refused, fields: ["master_login", "investor_login", "perf_fee"] });
    const unsubscribed = await newInvestor(client());
    expectProblem(await assign(client(), "999999", "999998"), notFound("master_not_found"));
    expectProblem(await assign(client(), master, "999998"), notFound("investor_not_found"));

    const missingLogins = await client().post("/api/v1/subscriptions/unassign");
    expectProblem(missingLogins, { ...refused, fields: ["master_login", "investor_login"] });
    expectProblem(await unassign(client(), master, unsubscribed), notFound("subscription_not_found"));
    expectProblem(await unassign(client(), master, "999998"), notFound("investor_not_found"));
  });

  test("the list is empty for unknown logins and refuses unknown states", async () => {
    expect(shape.expectItems(await list("investor_login=999999"), LISTED)).toBe(0);
    expectProblem(await list("status=DONE"), { status: 422, code: "validation_failed", fields: ["status"] });
  });
}

function notFound(code: string) {
  return { status: 404, code, outcome: "not_executed" } as const;
}

/** The exit may be over before the second command arrives. */
function codeAfter(code: unknown): string {
  return code === "subscription_not_active" ? code : "exit_in_progress";
}
