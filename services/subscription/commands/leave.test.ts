import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { LeaveKind } from "#proto/pamm/subscription/v1/subscription.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { deposit, holdForWithdrawal, payOut, release, withdraw } from "../testing/funding.ts";
import { balanceOf, enter, getAccount, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed } from "../testing/settle.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";
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

test("fee can ask again for what it was asked to crystallise by a decided leave of any kind", async () => {
  const world = await aWorld();
  const { service, fees } = world;
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  await service.leave(withdrawal.request, aCall());
  await release(world, withdrawal);
  await settle(world);
  await service.unassign({ masterLogin, investorLogin }, aCall());

  expect(fees.crystallised.size).toBe(2);
  for (const [key, { request }] of fees.crystallised) {
    expect(await service.findLeave({ key, investorLogin: "", feeSuffix: "" }, aCall())).toEqual({
      crystallisation: request,
    });
    const { suffix: feeSuffix } = request;
    expect(await service.findLeave({ key: "", investorLogin, feeSuffix }, aCall())).toEqual({
      crystallisation: request,
    });
    expect(await service.findLeave({ key: "", investorLogin: masterLogin, feeSuffix }, aCall())).toEqual({
      crystallisation: undefined,
    });
  }
  expect(await service.findLeave({ key: "unknown", investorLogin: "", feeSuffix: "" }, aCall())).toEqual({
    crystallisation: undefined,
  });
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
    kind: LeaveKind.EXIT,
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
  // Each of them reads its account, then waits at the gate.
  await pause(200);
  return { leaving, open: latch.open };
}

test("leaves that wait for one Master are decided in one episode of its gate", async () => {
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
  const gate = await one(
    world.deps.pool,
    sql`select gate_fence as fence, gate_closed_at as "closedAt" from master_pool where login = ${masterLogin}`,
  );
  expect(gate).toEqual({ fence: 2n, closedAt: null });
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  expect(holdings.map(({ reserved }) => reserved!.minorUnits)).toEqual([100_00n, 100_00n, 100_00n, 100_00n]);
  await expectBooksToReconcile(world);
});

test("a leave that is refused at the gate does not refuse those that wait with it", async () => {
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
  const crystallise: Deps["fees"]["crystallise"] = async (request, context) => {
    await pause(100);
    return await world.deps.fees.crystallise(request, context);
  };
  const service = subscriptionService({ ...world.deps, fees: { ...world.deps.fees, crystallise } });
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

test("deals that wait for a gate are allocated when it opens", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  const crystallise: Deps["fees"]["crystallise"] = async (asked, context) => {
    trader(world, masterLogin).result(30_00n);
    await deliver(world);
    expect(await allocateResults(world.deps)).toBe(false);
    return await world.deps.fees.crystallise(asked, context);
  };
  const notified = vi.spyOn(world.deps.wakeSignals.results, "notify");
  const filed = notified.mock.calls.length;
  await leave({ ...world.deps, fees: { ...world.deps.fees, crystallise } }, request, aCall());
  // Once when the deal was filed, and once when the gate opened.
  expect(notified.mock.calls.length - filed).toBe(2);
  await settle(world);
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  expect(holdings).toMatchObject([{ pooled: { minorUnits: 330_00n } }]);
  await expectBooksToReconcile(world);
});

test("a leave waits for a gate that another leave has closed, and is refused when it stays closed", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  await one(
    world.deps.pool,
    sql`update master_pool
        set gate_closed_at = now()
        where login = ${masterLogin}
        returning login`,
  );
  const { request } = await holdForWithdrawal(world, investorLogin, 1_00n);
  await expect(world.service.leave(request, aCall({ withinMs: 2_000 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
  });
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

test("while a hanging replica holds the gate, no other replica decides the try, and the outcome is unknown", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 500_00n);
  const { request } = await holdForWithdrawal(world, investorLogin, 200_00n);
  const hanging = { ...world.deps.fees, crystallise: () => new Promise<never>(() => undefined) };
  void leave({ ...world.deps, fees: hanging }, request, aCall());
  await expect.poll(() => many(world.deps.pool, sql`select key from leave where state = 'SETTLED'`)).toHaveLength(1);
  await expect(world.service.leave(request, aCall({ withinMs: 2_000 }))).rejects.toMatchObject({
    code: "outcome_unknown",
  });
  // The recovery job decides at the recorded log position; the repeated call now gets that decision.
  await passTime(world, 10_000);
  await settle(world);
  await expect(world.service.leave(request, aCall())).resolves.toMatchObject({ effective: { minorUnits: 200_00n } });
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  expect(holdings).toMatchObject([{ reserved: { minorUnits: 200_00n } }]);
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
