import { expect, test } from "vitest";
import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, untilKnown } from "../support/client.ts";
import { assign, expectDone, newInvestor, newMaster } from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import * as shape from "../support/shape.ts";

const { bool, empty, exactly, integer, login, rateText, timestamp } = shape;

const CONFIGURATION = {
  investor_id: integer,
  investor_login: login,
  rate: rateText,
  enabled: bool,
  effective_since: timestamp,
  created_at: timestamp,
  updated_at: timestamp,
};
const VERSION = {
  id: integer,
  rate: rateText,
  enabled: bool,
  effective_since: timestamp,
  created_at: timestamp,
  state: shape.text,
};
const LAST_PAGE = { next_cursor: empty, has_more: exactly(false), items: exactly([]) };

export function feeRoutes(client: () => Client): void {
  const read = (investor: string) => client().get(`/api/v1/investor/${investor}/performance-fee`);
  const update = (body: object) => client().post("/api/v1/investor/perf-fee/update", body);

  test("an assignment creates a fee configuration, and an update changes it", async () => {
    const { login: master } = await newMaster(client());
    const investor = await newInvestor(client());
    expectProblem(await read(investor), { status: 404, code: "fee_configuration_not_found" });
    await expectDone(assign(untilKnown(client()), master, investor));

    const first = {
      ...CONFIGURATION,
      investor_login: exactly(investor),
      rate: exactly("0.200000"),
      enabled: exactly(true),
    };
    shape.expectReply(await read(investor), first);
    const changed = await update({ investor_login: investor, rate: 0.3, enabled: false });
    const second = { ...CONFIGURATION, rate: exactly("0.300000"), enabled: exactly(false) };
    shape.expectReply(changed, second);
    shape.expectReply(await read(investor), second);
    const scheduled = await update({
      investor_login: investor,
      rate: 0.123456,
      effective_since: "2040-01-02T03:04:05",
    });
    const since = { rate: exactly("0.123456"), effective_since: exactly("2040-01-02T03:04:05.000000") };
    shape.expectReply(scheduled, { ...CONFIGURATION, ...since });
    shape.expectReply(await read(investor), second);

    const versions = `/api/v1/investor/${investor}/performance-fee/versions`;
    const states = async () =>
      itemsOf((await client().get(versions)).body["items"]).map((version) => textOf(version, "state"));
    expect(await states()).toEqual(["scheduled", "in_force", "past"]);
    const [newest = {}] = itemsOf((await client().get(`${versions}?limit=1`)).body["items"]);
    const cancel = (id: string) => client().send(`${versions}/${id}`, { method: "DELETE" });
    const cancelled = await cancel(textOf(newest, "id"));
    shape.expectReply(cancelled, { ...VERSION, ...since, enabled: exactly(false), state: exactly("cancelled") });
    const refused = { outcome: "not_executed" } as const;
    const late = { status: 409, code: "fee_version_not_scheduled", members: { state: exactly("cancelled") } };
    expectProblem(await cancel(textOf(newest, "id")), { ...refused, ...late });
    expect(await states()).toEqual(["cancelled", "in_force", "past"]);
    expectProblem(await cancel("999999"), { ...refused, status: 404, code: "fee_version_not_found" });

    const back = await update({ investor_login: investor, rate: 0.1, effective_since: "2026-01-02T03:04:05" });
    expect(back.headers.get("x-retroactive-since")).toBe("2026-01-02T03:04:05.000000");
    expect(changed.headers.get("x-retroactive-since")).toBeNull();
  });

  test("an update creates a missing configuration unless upsert is false", async () => {
    const investor = await newInvestor(client());
    const refused = { outcome: "not_executed" } as const;
    const none = await update({ investor_login: investor, rate: 0.1, upsert: false });
    expectProblem(none, { ...refused, status: 404, code: "fee_configuration_not_found" });
    const rateless = await update({ investor_login: investor });
    expectProblem(rateless, { ...refused, status: 422, code: "validation_failed", fields: ["rate"] });
    const created = await update({ investor_login: investor, rate: 1 });
    shape.expectReply(created, { ...CONFIGURATION, rate: exactly("1.000000"), enabled: exactly(true) });
  });

  test("an update reports all wrong fields at once", async () => {
    const refused = { status: 422, code: "validation_failed", outcome: "not_executed" } as const;
    const wrong = { investor_login: "x", rate: "0.3", enabled: 1, effective_since: "yesterday", upsert: "no" };
    expectProblem(await update(wrong), { ...refused, fields: Object.keys(wrong) });
    const investor = await newInvestor(client());
    expectProblem(await update({ investor_login: investor, rate: 0.1234567 }), { ...refused, fields: ["rate"] });
    expectProblem(await update({ investor_login: investor, rate: -0.1 }), { ...refused, fields: ["rate"] });
    const unknown = await update({ investor_login: "999999", rate: 0.1 });
    expectProblem(unknown, { status: 404, code: "investor_not_found", outcome: "not_executed" });
    expectProblem(await read("999999"), { status: 404, code: "investor_not_found" });
  });

  test("the listings of a Master without fees are empty pages", async () => {
    const { login: master, paymentLogin } = await newMaster(client());
    const credits = await client().get(`/api/v1/perf-fee/transactions?master_login=${master}`);
    shape.expectReply(credits, { ...LAST_PAGE, payment_account_login: exactly(paymentLogin) });
    const payments = await client().get(`/api/v1/perf-fee/master/${master}/investor-payments?limit=500&cursor=7`);
    const both = { master_login: exactly(master), payment_account_login: exactly(paymentLogin) };
    shape.expectReply(payments, { ...LAST_PAGE, ...both });
  });

  test("the listings refuse unknown Masters and invalid parameters", async () => {
    const notFound = { status: 404, code: "master_not_found" };
    expectProblem(await client().get("/api/v1/perf-fee/transactions?master_login=999999"), notFound);
    expectProblem(await client().get("/api/v1/perf-fee/master/999999/investor-payments"), notFound);
    const wrong = { status: 422, code: "validation_failed" };
    const credits = await client().get("/api/v1/perf-fee/transactions?limit=101");
    expectProblem(credits, { ...wrong, fields: ["master_login", "limit"] });
    const payments = await client().get("/api/v1/perf-fee/master/1/investor-payments?limit=501");
    expectProblem(payments, { ...wrong, fields: ["limit"] });
    const cursor = await client().get("/api/v1/perf-fee/transactions?master_login=1&cursor=abc");
    expectProblem(cursor, { status: 422, code: "invalid_cursor", fields: ["cursor"] });
    expect(cursor.headers.get("retry-after")).toBeNull();
  });
}
