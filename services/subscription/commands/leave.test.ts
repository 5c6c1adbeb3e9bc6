import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { DepartureKind } from "#proto/pamm/subscription/v1/subscription.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { deposit, holdForWithdrawal, payOut, release, withdraw } from "../testing/funding.ts";
import { balanceOf, enter, getAccount, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed } from "../testing/settle.ts";
import { aCall, aMaster, anInvestor, aWorld, type World } from "../testing/world.ts";
import { createLatch } from "../testing/latch.ts";
import { inBucket } from "../testing/ledger.ts";
import { pausedAt } from "../testing/paused.ts";
import { trader } from "../testing/trader.ts";
import type { Deps } from "../deps.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { subscriptionService } from "../service.ts";
import { leave } from "./leave.ts";

test("a leave of a pooled Investor returns the Master, its log position and four amounts", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  expect(await world.service.leave(request, aCall())).toEqual({
    inPool: true,
    masterLogin,
    settledLogNumber: lastEntry(world.platform.ledger, masterLogin).number,
    balanceBefore: moneyToProto(usd(500_00n)),
    pendingFee: moneyToProto(usd(0n)),
    availableAfterFee: moneyToProto(usd(500_00n)),
    effective: moneyToProto(usd(200_00n)),
  });
  const ledger = await world.service.getPoolLedger({ masterLogin }, aCall());
  expect(ledger.holdings).toMatchObject([{ pooled: { minorUnits: 300_00n }, reserved: { minorUnits: 200_00n } }]);
  await expectBooksToReconcile(world);
});

test("a reserve leaves the Master only after the log shows the payout", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await world.service.leave(withdrawal.request, aCall());
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
  await payOut(world, withdrawal, 200_00n);
  await release(world, withdrawal);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(300_00n);
  await expectBooksToReconcile(world);
});

test("a leave of an Investor outside a pool reads no Master and reserves nothing", async () => {
  const world = await aWorld();
  const investorLogin = anInvestor(world, 80_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 100_00n);
  expect(await world.service.leave(request, aCall())).toEqual({
    inPool: false,
    masterLogin: "",
    settledLogNumber: 0n,
    balanceBefore: moneyToProto(usd(80_00n)),
    pendingFee: moneyToProto(usd(0n)),
    availableAfterFee: moneyToProto(usd(80_00n)),
    effective: moneyToProto(usd(80_00n)),
  });
  expect(await many(world.deps.pool, sql`select key from reserve`)).toEqual([]);
});

test("a request with several invalid fields is refused with all of them", async () => {
  const world = await aWorld();
  const negative = moneyToProto(usd(-1n));
  const request = {
    key: "",
    try: 0,
    investorLogin: "x",
    kind: DepartureKind.EXIT,
    requested: negative,
    heldBalance: negative,
  };
  await expect(
    world.service.leave({ ...request, heldLogNumber: -1n, payoutKey: "", feeSuffix: "" }, aCall()),
  ).rejects.toMatchObject({
    code: "validation_failed",
    errors: ["key", "try", "investor_login", "kind", "requested", "held_log_number", "payout_key", "fee_suffix"].map(
      (field) => ({
        field,
      }),
    ),
  });
});

test("a try refused for open positions stays refused, and the next try is decided anew", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  trader(world, masterLogin).openSome(3);
  const first = await holdForWithdrawal(world, investorLogin, 200_00n);
  const refusal = { code: "master_open_positions", details: { open_positions: "3" }, outcome: "not_executed" };
  await expect(world.service.leave(first.request, aCall())).rejects.toMatchObject(refusal);
  trader(world, masterLogin).closeAll();
  await expect(world.service.leave(first.request, aCall())).rejects.toMatchObject(refusal);
  await release(world, first);

  const second = await holdForWithdrawal(world, investorLogin, 200_00n, { number: 2 });
  const decision = await world.service.leave(second.request, aCall());
  expect(decision).toMatchObject({ effective: { minorUnits: 200_00n } });
  // A decided key answers the same under every try; the first try keeps its refusal.
  await expect(world.service.leave({ ...second.request, try: 3 }, aCall())).resolves.toEqual(decision);
});

test("a try older than the recorded one is refused as busy", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  trader(world, masterLogin).openSome(1);
  const second = await holdForWithdrawal(world, investorLogin, 200_00n, { number: 2 });
  await expect(world.service.leave(second.request, aCall())).rejects.toMatchObject({ code: "master_open_positions" });
  trader(world, masterLogin).closeAll();
  await expect(world.service.leave({ ...second.request, try: 1 }, aCall())).rejects.toMatchObject({
    code: "account_busy",
  });
});

test("a try refused for an incomplete log of the Master stays refused", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  getAccount(world.platform.ledger, masterLogin).isComplete = false;
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  const refusal = { code: "allocation_in_progress", retryAfterMs: expect.any(Number) };
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject(refusal);
  getAccount(world.platform.ledger, masterLogin).isComplete = true;
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject(refusal);
});

test("a try is refused with allocation_in_progress, which is not final, when the Master cannot be read", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  world.platform.state.isDown = true;
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject({ code: "allocation_in_progress" });
  world.platform.state.isDown = false;
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject({ code: "allocation_in_progress" });
});

test("a leave waits for money in transit to the Master until it has units", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await deposit(world, investorLogin, 100_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 600_00n);
  const leaving = world.service.leave(withdrawal.request, aCall());
  await pause(150);
  await settle(world);
  await expect(leaving).resolves.toMatchObject({ effective: { minorUnits: 600_00n } });
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(600_00n);
  await expectBooksToReconcile(world);
});

test("a later try waits for an earlier one that is still open, and gets its decision", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await deposit(world, investorLogin, 100_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 600_00n);
  const waits = vi.spyOn(world.deps.wakeSignals.mirrors, "notify");
  const first = world.service.leave(request, aCall());
  await expect.poll(() => waits.mock.calls.length).toBeGreaterThan(0);
  const later = world.service.leave({ ...request, try: 2 }, aCall());
  await settle(world);
  expect(await later).toEqual(await first);
});

test("a try is refused as busy, also when repeated, if money does not reach the Master in time", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await deposit(world, investorLogin, 100_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 600_00n);
  const refusal = { code: "account_busy", outcome: "not_executed", retryAfterMs: expect.any(Number) };
  await expect(world.service.leave(request, aCall({ withinMs: 2_000 }))).rejects.toMatchObject(refusal);
  await settle(world);
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject(refusal);
});

test("a try is refused when the account changed after it was locked", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 600_00n);
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.EXTERNAL, amount: 5_00n });
  await deliver(world);
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject({ code: "account_busy" });
});

/** Investors of one Master that request 100.00 each, at the same time and after the Master was read for another leave. */
async function leaveTogether(world: World, masterLogin: string, investorLogins: readonly string[]) {
  const { investorLogin: earlier } = await subscribed(world, masterLogin, 300_00n);
  const { latch, service } = pausedAt(world, "readAccount");
  const withdrawals = await Promise.all(
    [earlier, ...investorLogins].map((login) => holdForWithdrawal(world, login, 100_00n)),
  );
  const [first, ...others] = withdrawals.map(({ request }) => request);
  const leaving = [service.leave(first!, aCall())];
  await latch.reached;
  leaving.push(...others.map((request) => service.leave(request, aCall())));
  // Each of them reads its account, then waits for the others.
  await pause(200);
  return { leaving, open: latch.open };
}

test("leaves that wait for one Master are decided together", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const pairs = [];
  for (const balance of [500_00n, 400_00n, 300_00n]) pairs.push(await subscribed(world, masterLogin, balance));
  const reads = vi.spyOn(world.platform.client, "readAccount");
  const { leaving, open } = await leaveTogether(
    world,
    masterLogin,
    pairs.map(({ investorLogin }) => investorLogin),
  );
  reads.mockClear();
  open();
  const answers = await Promise.all(leaving);
  expect(answers.map(({ effective }) => effective!.minorUnits)).toEqual([100_00n, 100_00n, 100_00n, 100_00n]);
  // One for the first leave, and one for the three that waited.
  expect(reads.mock.calls.filter(([{ login }]) => login === masterLogin)).toHaveLength(2);
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  expect(holdings.map(({ reserved }) => reserved!.minorUnits)).toEqual([100_00n, 100_00n, 100_00n, 100_00n]);
  await expectBooksToReconcile(world);
});

test("a leave that is refused when it is decided does not refuse those with it", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const changed = await subscribed(world, masterLogin, 500_00n);
  const other = await subscribed(world, masterLogin, 400_00n);
  const { leaving, open } = await leaveTogether(world, masterLogin, [changed.investorLogin, other.investorLogin]);
  enter(world.platform.ledger, changed.investorLogin, { kind: MovementKind.EXTERNAL, amount: 5_00n });
  await deliver(world);
  open();
  const outcomes = await Promise.allSettled(leaving);
  expect(outcomes).toMatchObject([
    { value: { effective: { minorUnits: 100_00n } } },
    { reason: { code: "account_busy" } },
    { value: { effective: { minorUnits: 100_00n } } },
  ]);
  await expectBooksToReconcile(world);
});

test("an exit and a withdrawal from one Master are decided together", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const leaver = await subscribed(world, masterLogin, 500_00n);
  const other = await subscribed(world, masterLogin, 400_00n);
  const findTerms: Deps["fees"]["findTerms"] = async (request, context) => {
    await pause(100);
    return await world.deps.fees.findTerms(request, context);
  };
  const service = subscriptionService({ ...world.deps, fees: { ...world.deps.fees, findTerms } });
  const withdrawal = await holdForWithdrawal(world, other.investorLogin, 100_00n);
  const [exit, decision] = await Promise.all([
    service.unassign(leaver, aCall()),
    service.leave(withdrawal.request, aCall()),
  ]);
  expect(exit).toMatchObject({ amount: { minorUnits: -500_00n } });
  expect(decision).toMatchObject({ effective: { minorUnits: 100_00n } });
  await payOut(world, withdrawal, 100_00n);
  await release(world, withdrawal);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(300_00n);
  await expectBooksToReconcile(world);
});

test("a deal during a decision is allocated at once, and the Master is read again", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 9_999_00n);
  let asked = 0;
  const findTerms: Deps["fees"]["findTerms"] = async (wanted, context) => {
    asked += 1;
    if (asked === 1) {
      // The Master was read meanwhile.
      await pause(200);
      trader(world, masterLogin).result(30_00n);
      await deliver(world);
      await allocateResults(world.deps);
      expect(await inBucket(world, masterLogin, "pooled")).toEqual([530_00n]);
    }
    return await world.deps.fees.findTerms(wanted, context);
  };
  const answer = await leave({ ...world.deps, fees: { ...world.deps.fees, findTerms } }, request, aCall());
  expect(answer).toMatchObject({
    balanceBefore: { minorUnits: 530_00n },
    settledLogNumber: lastEntry(world.platform.ledger, masterLogin).number,
  });
  expect(asked).toBe(2);
  await expectBooksToReconcile(world);
});

test("a Master that trades in each reading lets no Investor leave, and nothing is reserved", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 100_00n);
  const { client } = world.platform;
  const readAccount: Deps["platform"]["readAccount"] = async (wanted, context) => {
    const reading = await client.readAccount(wanted, context);
    trader(world, masterLogin).result(1_00n);
    await deliver(world);
    return reading;
  };
  const deps = { ...world.deps, platform: { ...client, readAccount } };
  const refusal = { code: "allocation_in_progress", outcome: "not_executed" };
  await expect(leave(deps, request, aCall())).rejects.toMatchObject(refusal);
  await expect(world.service.leave(request, aCall())).rejects.toMatchObject(refusal);
  expect(await many(world.deps.pool, sql`select key from reserve`)).toEqual([]);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([503_00n]);
  await expectBooksToReconcile(world);
});

test("a position opened between the reading of a flat Master and the decision keeps money in the pool", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 100_00n);
  const { client } = world.platform;
  let reads = 0;
  const readAccount: Deps["platform"]["readAccount"] = async (wanted, context) => {
    const reading = await client.readAccount(wanted, context);
    reads += 1;
    if (reads === 1) {
      trader(world, masterLogin).open();
      await deliver(world);
    }
    return reading;
  };
  const deps = { ...world.deps, platform: { ...client, readAccount } };
  await expect(leave(deps, request, aCall())).rejects.toMatchObject({ code: "master_open_positions" });
  expect(reads).toBe(2);
  expect(await many(world.deps.pool, sql`select key from reserve`)).toEqual([]);
  await expectBooksToReconcile(world);
});

test("concurrent deliveries of one call get one decision", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  const answers = await Promise.all([1, 2, 3, 4].map(() => world.service.leave(request, aCall())));
  expect(new Set(answers.map(({ settledLogNumber }) => settledLogNumber)).size).toBe(1);
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  expect(holdings).toMatchObject([{ reserved: { minorUnits: 200_00n } }]);
  await expectBooksToReconcile(world);
});

test("a replica that hangs while it reads the Master keeps no other replica from deciding the try", async () => {
  const world = await aWorld();
  const { investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  const { latch, service } = pausedAt(world, "readAccount");
  void service.leave(request, aCall());
  await latch.reached;
  await expect(world.service.leave(request, aCall())).resolves.toMatchObject({ effective: { minorUnits: 200_00n } });
});

test("a replica that hangs before its commit holds nothing up, and decides nothing when it continues", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  const latch = createLatch();
  const findTerms: Deps["fees"]["findTerms"] = async (wanted, context) => {
    const terms = await world.deps.fees.findTerms(wanted, context);
    await latch.pass();
    return terms;
  };
  const hanging = leave({ ...world.deps, fees: { ...world.deps.fees, findTerms } }, request, aCall());
  await latch.reached;
  const answer = await world.service.leave(request, aCall());
  expect(answer).toMatchObject({ effective: { minorUnits: 200_00n } });
  latch.open();
  await expect(hanging).resolves.toEqual(answer);
  expect(await inBucket(world, masterLogin, "reserved")).toEqual([200_00n]);
  expect(await many(world.deps.pool, sql`select try, state from leave`)).toEqual([{ try: 1, state: "DECIDED" }]);
  await expectBooksToReconcile(world);
});

test("an Investor can withdraw everything and stays ACTIVE with 0.00", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  expect(await withdraw(world, investorLogin, 9_999_00n, "funding:withdrawal:1")).toBe(500_00n);
  await settle(world);
  expect(await withdraw(world, investorLogin, 1_00n, "funding:withdrawal:2")).toBe(0n);
  const { subscription } = await world.service.findOpenSubscription({ investorLogin }, aCall());
  expect(subscription).toMatchObject({ inPool: true });
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
  await expectBooksToReconcile(world);
});
