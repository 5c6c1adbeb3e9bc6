import { expect, test } from "vitest";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf, untilKnown } from "../support/client.ts";
import { assign, deposit, expectDone, newInvestor, newMaster, withdraw } from "../support/client-requests.ts";
import { expectProblem } from "../support/problem.ts";
import * as shape from "../support/shape.ts";

const { amount, bool, decimalText, empty, exactly, integer, text } = shape;

const DEPOSITED = {
  status: exactly("success"),
  action: exactly("deposit"),
  login: text,
  amount,
  currency: exactly("USD"),
  deal_id: integer,
  message: text,
  first_deposit_checked: bool,
  min_deposit_required: decimalText,
};
const WITHDRAWN = {
  status: exactly("success"),
  action: exactly("withdraw"),
  login: text,
  currency: exactly("USD"),
  message: text,
  requested_amount: amount,
  effective_withdraw: amount,
  check_open_positions: bool,
  perf_fee_pending_at_request: exactly("0.00"),
  balance_before: decimalText,
  available_after_perf_fee: decimalText,
  mt5_deal_id: integer,
};
const REFUSED = { status: 422, code: "validation_failed", outcome: "not_executed" } as const;

export function fundRoutes(client: () => Client): void {
  test("a deposit makes one deal with the comment of the CRM", async () => {
    const login = await newInvestor(client());
    const reply = await deposit(client(), login, "100.5", "CRM-2026-0001");

    expect(reply.headers.get("x-operation-id")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    const unassigned = { first_deposit_checked: exactly(false), min_deposit_required: exactly("0.00") };
    shape.expectReply(reply, { ...DEPOSITED, login: exactly(login), amount: exactly(100.5), ...unassigned });
    const comment = expect.stringMatching(/^\S{14} CRM-2026-0001$/) as string;
    expect(await dealsOf(client(), login)).toEqual([{ ticket: reply.body["deal_id"], minor: 100_50n, comment }]);
  });

  test("a deposit of an assigned Investor is not refused for the minimum of the Master, also when that was raised since", async () => {
    const { login: master, id } = await newMaster(client());
    const login = await newInvestor(client());
    await expectDone(assign(untilKnown(client()), master, login));
    const patched = { method: "PATCH", body: `{"min_deposit":50}`, headers: { "content-type": "application/json" } };
    await expectDone(client().send(`/api/v1/master/${id}`, patched));

    const first = await deposit(client(), login, "49.99", "first");
    const checked = { first_deposit_checked: exactly(true), min_deposit_required: exactly("50.00") };
    shape.expectReply(first, { ...DEPOSITED, ...checked, amount: exactly(49.99) });
    const later = await deposit(client(), login, "0.02", "later");
    shape.expectReply(later, { ...DEPOSITED, first_deposit_checked: exactly(false), amount: exactly(0.02) });
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(50_01n));

    const paid = await withdraw(client(), login, "20.01");
    shape.expectReply(paid, {
      ...WITHDRAWN,
      effective_withdraw: exactly(20.01),
      check_open_positions: exactly(true),
      balance_before: exactly("50.01"),
      available_after_perf_fee: exactly("50.01"),
    });
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(30_00n));
  });

  test("a withdrawal is limited to the balance, and the next one finds no funds", async () => {
    const login = await newInvestor(client(), "80.10");

    const cut = await withdraw(client(), login, "100");
    shape.expectReply(cut, {
      ...WITHDRAWN,
      requested_amount: exactly(100),
      effective_withdraw: exactly(80.1),
      check_open_positions: exactly(false),
      balance_before: exactly("80.10"),
    });
    const nothing = await withdraw(client(), login, "1");
    shape.expectReply(nothing, {
      ...WITHDRAWN,
      status: exactly("no_funds"),
      effective_withdraw: exactly(0),
      balance_before: exactly("0.00"),
      available_after_perf_fee: exactly("0.00"),
      mt5_deal_id: empty,
    });
    const deals = await dealsOf(client(), login);
    expect(deals.map(({ minor }) => minor)).toEqual([minorOf("80.10"), minorOf("-80.10")]);
  });

  test("an invalid request moves no money", async () => {
    const login = await newInvestor(client());
    for (const action of ["deposit", "withdraw"]) {
      const send = (query: string) => client().post(`/api/v1/investor/${action}?${query}`);
      expectProblem(await send(""), { ...REFUSED, fields: ["login", "amount"] });
      expectProblem(await send("login=x&amount=0&comment=%07"), { ...REFUSED, fields: ["login", "amount", "comment"] });
      const finer = await send(`login=${login}&amount=0.001`);
      expectProblem(finer, { ...REFUSED, code: "amount_precision", fields: ["amount"] });
      const euros = await send(`login=${login}&amount=1&currency=EUR`);
      expectProblem(euros, { ...REFUSED, code: "currency_not_supported", fields: ["currency"] });
      const twice = await send(`login=${login}&amount=1&amount=2`);
      expectProblem(twice, { ...REFUSED, fields: ["amount"] });
      for (const malformed of ["-1", "1e2", "1.", ".5", "%2B1", "1000000000.01", "NaN", ""]) {
        expectProblem(await send(`login=${login}&amount=${malformed}`), { ...REFUSED, fields: ["amount"] });
      }
      const unknown = await send("login=999999&amount=1");
      expectProblem(unknown, { status: 404, code: "investor_not_found", outcome: "not_executed" });
    }
    const { login: master } = await newMaster(client());
    const onMaster = await deposit(client(), master, "1", "never");
    expectProblem(onMaster, { status: 404, code: "investor_not_found", outcome: "not_executed" });
    expect([...(await dealsOf(client(), login)), ...(await dealsOf(client(), master))]).toEqual([]);
  });

  test("the balance of an unknown login is answered 200 with ok false, and of a malformed one 422", async () => {
    const reply = await client().get("/api/v1/info/balance/999999");
    const unknown = {
      mt5_login: exactly("999999"),
      balance: empty,
      ok: exactly(false),
      error: exactly("unknown login"),
    };
    shape.expectReply(reply, unknown);
    const word = await client().get("/api/v1/info/balance/mine");
    expectProblem(word, { status: 422, code: "validation_failed", fields: ["mt5_login"] });
  });
}
