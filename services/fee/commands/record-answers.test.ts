import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { openAccount } from "#test/support/platform-fake/ledger.ts";
import { aCall, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";

import { collectAll, decideLeave } from "../testing/leaving.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  balanceOf,
  debtsOf,
  endWeek,
  expectToReconcile,
  paymentsOf,
  result,
  runsOf,
  settle,
  passTime,
  type World,
} from "../testing/world.ts";
import { feeService } from "../service.ts";
import { late } from "../checks/late.ts";
import { changePaymentAccount } from "./change-payment-account.ts";
import { findDueItems, getWaitingFees } from "../queries/payments.ts";

const KEY = "withdrawal:1";

/** An Investor with a profit of 2,000.00 and a pending fee of 600.00. */
async function aWorldWithPendingFee(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+2000.00" });
  await decideLeave(world);
  return world;
}

test("a fee to an archived payment account stays reserved, holds up no withdrawal, and goes to the next account", async () => {
  const world = await aWorldWithPendingFee();
  const { deps, platform, subscriptions } = world;
  platform.ledger.archived.add(PAYMENT_ACCOUNT);
  for (let tries = 0; tries < 2; tries += 1) expect(await collectAll(world)).toBe("0.00");
  await settle(world);
  expect(await many(deps.pool, sql`select suffix, amount_minor as paid, reason from fee_payment`)).toEqual([
    { suffix: "WD1", paid: 0n, reason: "account_archived" },
  ]);
  expect(subscriptions.returned).toEqual([]);
  expect(balanceOf(world, INVESTOR)).toBe("12000.00");
  await deps.pool.query("update fee_payment set created_at = clock_timestamp() - interval '2 hours'");
  const { findings } = await late(deps).run({ cursor: "", pendingBreaks: [] });
  expect(findings).toEqual([]);

  expect(await getWaitingFees(deps, { masterLogin: MASTER })).toEqual({
    amount: { currencyCode: "USD", minorUnits: 600_00n },
    since: expect.any(Date),
    paymentAccountLogin: PAYMENT_ACCOUNT,
  });

  const next = "6099";
  openAccount(platform.ledger, next, AccountRole.PAYMENT);
  await changePaymentAccount(deps, { masterLogin: MASTER, from: PAYMENT_ACCOUNT, to: next });
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "WD1", paid: "600.00", status: "EXECUTED" }]);
  expect([balanceOf(world, next), balanceOf(world, INVESTOR)]).toEqual(["600.00", "11400.00"]);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("0.00");
  expect((await getWaitingFees(deps, { masterLogin: MASTER })).amount).toBeUndefined();
  await expectToReconcile(world);
});

test("a fee that waited for an archived payment account and ends without a debit has its reserve returned", async () => {
  const world = await aWorldWithPendingFee();
  const { platform, subscriptions } = world;
  platform.ledger.archived.add(PAYMENT_ACCOUNT);
  expect(await collectAll(world)).toBe("0.00");
  expect(subscriptions.returned).toEqual([]);
  platform.ledger.archived.delete(PAYMENT_ACCOUNT);
  platform.rules.refuse = () => "insufficient_funds";
  await passTime(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "WD1", paid: "0.00", status: "DEFERRED" }]);
  expect(subscriptions.returned).toEqual(["fee:9001:5001:WD1"]);
});

test("the transfers of a withdrawal are listed by its key, and its key is found by each of them", async () => {
  const { deps } = await aWorldWithPendingFee();
  const amount = { currencyCode: "USD", minorUnits: 600_00n };
  expect(await findDueItems(deps, { keys: ["unknown", KEY] })).toEqual({
    decided: [{ key: KEY, items: [{ key: "fee:9001:5001:WD1", amount, isWeekly: false }] }],
  });
  const service = feeService(deps);
  expect(await service.findKeysOfItem({ key: "fee:9001:5001:WD1" }, aCall())).toEqual({ keys: [KEY] });
  expect(await service.findKeysOfItem({ key: "unknown" }, aCall())).toEqual({ keys: [] });
});

test("a debit that is finally refused becomes debt, and its caller is answered to return the reserve", async () => {
  const world = await aWorldWithPendingFee();
  const info = vi.spyOn(world.deps.log, "info");
  world.platform.rules.refuse = () => "insufficient_funds";
  expect(await collectAll(world)).toBe("0.00");
  expect(await paymentsOf(world)).toMatchObject([{ status: "DEFERRED", paid: "0.00", due: "600.00" }]);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "600.00" });
  expect(world.subscriptions.returned).toEqual(["fee:9001:5001:WD1"]);
  expect(info).toHaveBeenCalledWith(
    "fee deferred, amount is now debt",
    expect.objectContaining({ login: MASTER, reason: "insufficient_funds" }),
  );

  world.platform.rules.refuse = () => undefined;
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  expect((await paymentsOf(world)).at(-1)).toMatchObject({ suffix: "DEBT", paid: "600.00", status: "EXECUTED" });
  expect(await debtsOf(world)).toEqual({});
  await expectToReconcile(world);
});

test("a fee is reduced to the funds above the floor, and the rest becomes debt", async () => {
  const world = await aWorldWithPendingFee();
  world.subscriptions.floors.set(INVESTOR, 11_750_00n);
  expect(await collectAll(world)).toBe("250.00");
  await passTime(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTED", due: "600.00", paid: "250.00" }]);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "350.00" });
  await expectToReconcile(world);
});

test("a debit whose answer was lost has an unknown outcome, and a repeated call records it once", async () => {
  const world = await aWorldWithPendingFee();
  world.platform.rules.losesAnswer = () => true;
  await expect(collectAll(world)).rejects.toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
  expect(balanceOf(world, INVESTOR)).toBe("11400.00");
  world.platform.rules.losesAnswer = () => false;
  expect(await collectAll(world)).toBe("600.00");
  expect(balanceOf(world, INVESTOR)).toBe("11400.00");
  await expectToReconcile(world);
});

test("a collection ends with the debit, and the job settles the payment with its credit", async () => {
  const world = await aWorldWithPendingFee();
  world.platform.rules.delaysCredit = () => true;
  for (let times = 0; times < 2; times += 1) expect(await collectAll(world)).toBe("600.00");
  for (let runs = 0; runs < 2; runs += 1) {
    await passTime(world);
    await settle(world);
    expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTING", paid: "600.00" }]);
  }

  world.platform.finish("fee:9001:5001:WD1");
  await passTime(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "EXECUTED", paid: "600.00" }]);
  expect(balanceOf(world, PAYMENT_ACCOUNT)).toBe("600.00");
  expect(await runsOf(world)).toMatchObject([{ kind: "ON_DEMAND", status: "EXECUTED" }]);
  await expectToReconcile(world);
});

test("a fee whose credit is refused after its withdrawal has ended is given back, and becomes debt that is collected once", async () => {
  const world = await aWorldWithPendingFee();
  world.platform.rules.refusesCredit = () => true;
  expect(await collectAll(world)).toBe("600.00");
  expect(balanceOf(world, INVESTOR)).toBe("12000.00");
  await passTime(world);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "REVERSED", paid: "0.00" }]);
  expect(await debtsOf(world)).toEqual({ [`${INVESTOR}:${MASTER}`]: "600.00" });
  // The log of the account has debit and reversal: no reserve is left to return.
  expect(await collectAll(world)).toBe("0.00");
  expect(world.subscriptions.returned).toEqual([]);

  world.platform.rules.refusesCredit = () => false;
  endWeek(world, { [INVESTOR]: "0.00" });
  await settle(world);
  expect((await paymentsOf(world)).at(-1)).toMatchObject({ suffix: "DEBT", paid: "600.00", status: "EXECUTED" });
  expect([balanceOf(world, INVESTOR), balanceOf(world, PAYMENT_ACCOUNT)]).toEqual(["11400.00", "600.00"]);
  await expectToReconcile(world);
});

test("the weekly job does not collect payments that wait for the account lock", async () => {
  const world = await aWorldWithPendingFee();
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ status: "PENDING" }]);
});

test("a weekly payment from a locked account waits, and the lock owner collects it once", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  aWeek(world, { [INVESTOR]: "+1000.00" });
  world.platform.accountLocks.set(INVESTOR, `${KEY}:1`);
  await settle(world);
  expect(await paymentsOf(world)).toMatchObject([{ suffix: "W", status: "EXECUTING", paid: "0.00" }]);
  expect(await decideLeave(world)).toEqual({
    pending: "0.00",
    items: [["fee:9001:5001:W:2026-01-10T00:00:00.000Z", "300.00", true]],
  });
  expect(await collectAll(world)).toBe("300.00");
  await passTime(world);
  await settle(world);
  expect(balanceOf(world, INVESTOR)).toBe("10700.00");
  expect(await runsOf(world)).toMatchObject([
    { kind: "WEEKLY", status: "EXECUTED" },
    { kind: "ON_DEMAND", status: "EXECUTED" },
  ]);
});
