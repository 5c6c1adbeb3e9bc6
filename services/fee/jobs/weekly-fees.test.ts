import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { openAccount, setBalance } from "#test/support/platform-fake/ledger.ts";
import { late } from "../checks/late.ts";
import { changePaymentAccount } from "../commands/change-payment-account.ts";
import { recordFees } from "../commands/record-fees.ts";
import { listInvestorPayments, listPaymentCredits } from "../queries/payments.ts";
import { aCall, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import {
  anInvestor,
  aWorld,
  balanceOf,
  endWeek,
  expectToReconcile,
  passTime,
  paymentsOf,
  result,
  runsOf,
  settle,
  type World,
} from "../testing/world.ts";

/** Runs a week of one Investor with a result and a floating result at its end; returns the balance after its fee run. */
async function week(world: World, amount: string, floating = "0.00"): Promise<string> {
  result(world, { [INVESTOR]: amount });
  endWeek(world, { [INVESTOR]: floating });
  await settle(world);
  await expectToReconcile(world);
  return balanceOf(world, INVESTOR);
}

test("the fees of two weeks with a profit are in both listings", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  expect(await week(world, "+1000.00")).toBe("10700.00");
  expect(await week(world, "+500.00")).toBe("11050.00");
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("450.00");

  const { items } = await listInvestorPayments(world.deps, { masterLogin: MASTER, beforeId: 0n, limit: 10 }, aCall());
  expect(items).toMatchObject([
    { amount: { minorUnits: 150_00n }, runStatus: "EXECUTED", status: "EXECUTED", investorId: 9001n },
    { amount: { minorUnits: 300_00n }, runStatus: "EXECUTED", cashflowUniqueKey: `PF:${INVESTOR}:${MASTER}:1:W` },
  ]);
  const credits = await listPaymentCredits(world.deps, { masterLogin: MASTER, afterId: 0n, limit: 10 }, aCall());
  expect(credits.items).toMatchObject([
    { id: items[1]!.cashflowId, kind: "PF", investorLogin: INVESTOR, amount: { minorUnits: 300_00n } },
    { id: items[0]!.cashflowId, kind: "PF", investorLogin: INVESTOR, amount: { minorUnits: 150_00n } },
  ]);
  expect(credits.items[0]!.dealId).not.toBe(items[1]!.dealId);
});

test("each of three Investors pays its own fee, rounded down once", async () => {
  const world = await aWorld();
  for (const login of ["9001", "9002", "9003"]) {
    await anInvestor(world, { login, deposit: "1000.00", ratePpm: 333_333 });
  }
  result(world, { 9001: "+33.34", 9002: "+33.33", 9003: "+33.33" });
  endWeek(world, { 9001: "0.00", 9002: "0.00", 9003: "0.00" });
  await settle(world);
  expect((await paymentsOf(world)).map(({ investor, paid }) => [investor, paid])).toEqual([
    ["9001", "11.11"],
    ["9002", "11.10"],
    ["9003", "11.10"],
  ]);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("33.31");
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "EXECUTED" }]);
});

test.each([
  ["is back", PAYMENT_ACCOUNT],
  ["is replaced by another one", "6099"],
])(
  "fees of weeks that close while an Investor and the payment account are archived are paid once each when that %s",
  async (_what, credited) => {
    const world = await aWorld();
    const { archived } = world.platform.ledger;
    for (const login of ["9001", "9002", "9003"]) await anInvestor(world, { login, deposit: "1000.00" });
    setBalance(world.platform.ledger, "9001", 0n);
    archived.add("9001").add(PAYMENT_ACCOUNT);
    for (let weeks = 0; weeks < 2; weeks += 1) {
      result(world, { 9001: "0.00", 9002: "+100.00", 9003: "+50.00" });
      endWeek(world, { 9001: "0.00", 9002: "0.00", 9003: "0.00" });
      await settle(world);
      await passTime(world);
      await settle(world);
    }
    const waiting = await many(
      world.deps.pool,
      sql`select investor_login as login, status, amount_minor as paid, reason from fee_payment order by id`,
    );
    const due = (login: string) => ({ login, status: "EXECUTING", paid: 0n, reason: "account_archived" });
    expect(waiting).toEqual(["9002", "9003", "9002", "9003"].map((login) => due(login)));
    expect(["9002", "9003"].map((login) => balanceOf(world, login))).toEqual(["1200.00", "1100.00"]);

    await world.deps.pool.query("update fee_payment set created_at = clock_timestamp() - interval '2 hours'");
    expect((await late(world.deps).run({ cursor: "", pendingBreaks: [] })).findings).toEqual([]);
    if (credited === PAYMENT_ACCOUNT) archived.delete(PAYMENT_ACCOUNT);
    else {
      openAccount(world.platform.ledger, credited, AccountRole.PAYMENT);
      await changePaymentAccount(world.deps, { masterLogin: MASTER, from: PAYMENT_ACCOUNT, to: credited });
    }
    for (let tries = 0; tries < 2; tries += 1) {
      await passTime(world);
      await settle(world);
    }
    expect((await paymentsOf(world)).map(({ investor, paid, status }) => [investor, paid, status])).toEqual([
      ["9002", "30.00", "EXECUTED"],
      ["9003", "15.00", "EXECUTED"],
      ["9002", "30.00", "EXECUTED"],
      ["9003", "15.00", "EXECUTED"],
    ]);
    const balances = ["9001", "9002", "9003", credited].map((login) => balanceOf(world, login));
    expect(balances).toEqual(["0.00", "1140.00", "1070.00", "90.00"]);
    await expectToReconcile(world);
  },
);

test("an executed week does not change when its decision is recorded again", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  await week(world, "+1000.00");
  const before = [await paymentsOf(world), await runsOf(world), balanceOf(world, INVESTOR)];
  for (const { request } of world.subscriptions.books.decisions) {
    expect(await recordFees(world.deps, request, aCall())).toMatchObject({ items: [], transfers: [] });
  }
  await settle(world);
  expect([await paymentsOf(world), await runsOf(world), balanceOf(world, INVESTOR)]).toEqual(before);
});
