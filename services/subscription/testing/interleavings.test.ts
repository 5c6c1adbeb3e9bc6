import { expect, test } from "vitest";
import { poolLedger } from "./ledger.ts";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { departureKey } from "../domain/departure.ts";
import { subscriptionService } from "../service.ts";
import { beginNextTry } from "../store/departures.ts";
import { expectBooksToReconcile } from "./books.ts";
import { completeWithdrawal, decideWithdrawal, deposit, holdForWithdrawal, release, withdraw } from "./funding.ts";
import { createLatch, pausedAt } from "./paused.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime, type World } from "./world.ts";

async function statusOf({ deps }: World, id: bigint): Promise<{ status: string; hasEnded: boolean }> {
  return one(deps.pool, sql`select status, ended_at is not null as "hasEnded" from subscription where id = ${id}`);
}

function expectMaster({ platform }: World, login: string, balance: bigint): void {
  expect(balanceOf(platform.ledger, login)).toBe(balance);
}

test("a deposit during an assign waits for the account lock and is mirrored after ACTIVE", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const latch = createLatch();
  const fees: Deps["fees"] = {
    ...world.deps.fees,
    async configure(request, context) {
      await latch.pass();
      return await world.deps.fees.configure(request, context);
    },
  };
  const assigning = subscriptionService({ ...world.deps, fees }).assign(anAssignment(pair), aCall());
  await latch.reached;
  // The deposit waits: the account lock is held from the read of the balance until ACTIVE.
  const { state } = await deposit(world, pair.investorLogin, 40_00n);
  await deliver(world);
  latch.open();
  await assigning;
  await settle(world);
  expect(state).not.toBe(world.platform.byKey.get("funding:deposit:1")!.result.state);
  expectMaster(world, pair.masterLogin, 540_00n);
  await expectBooksToReconcile(world);
});

test("external funds of either sign that are moved while an assign holds the account lock are quarantined", async () => {
  const world = await aWorld();
  for (const amount of [30_00n, -30_00n]) {
    const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
    const configure: Deps["fees"]["configure"] = async (request, context) => {
      enter(world.platform.ledger, pair.investorLogin, { kind: MovementKind.EXTERNAL, amount });
      await deliver(world);
      return await world.deps.fees.configure(request, context);
    };
    const fees = { ...world.deps.fees, configure };
    await subscriptionService({ ...world.deps, fees }).assign(anAssignment(pair), aCall());
    await settle(world);
    const { holdings } = await poolLedger(world, pair.masterLogin);
    expect(holdings).toMatchObject([{ pooled: 500_00n, quarantined: amount }]);
    expectMaster(world, pair.masterLogin, 500_00n);
    await expectBooksToReconcile(world);
  }
});

test("an account that changes while it is read is locked and read again, and the decision uses the new balance", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 50_00n) };
  let reads = 0;
  const readLog: Deps["platform"]["readLog"] = async (request, context) => {
    reads += 1;
    if (reads === 1) {
      enter(world.platform.ledger, pair.investorLogin, { kind: MovementKind.EXTERNAL, amount: 50_00n });
      await deliver(world);
    }
    return await world.platform.client.readLog(request, context);
  };
  const platform = { ...world.platform.client, readLog };
  await subscriptionService({ ...world.deps, platform }).assign(anAssignment(pair), aCall());
  await settle(world);
  expectMaster(world, pair.masterLogin, 100_00n);
  await expectBooksToReconcile(world);
});

test("a paused replica cannot acquire the account lock after its saga was aborted and its lock released", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const { latch, service } = pausedAt(world, "hold");
  const assigning = service.assign(anAssignment(pair), aCall());
  await latch.reached;
  await passTime(world, 60_000);
  await settle(world);
  latch.open();
  await expect(assigning).rejects.toMatchObject({ code: "account_busy", outcome: "not_executed" });
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  await expect(world.service.assign(anAssignment(pair), aCall())).resolves.toBeDefined();
});

test("an unassign that was aborted while its replica was paused does not keep the account lock", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const { latch, service } = pausedAt(world, "hold");
  const leaving = service.unassign(pair, aCall({ withinMs: 1_500 }));
  await latch.reached;
  await passTime(world, 60_000);
  await settle(world);
  latch.open();
  await expect(leaving.catch((error: unknown) => error)).resolves.toBeDefined();
  await settleAndReconcile(world);
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
});

test("an unassign reads a deposit whose event is not delivered from the log, and pays it out with the rest", async () => {
  const { world, ...pair } = await aPair(500_00n);
  await deposit(world, pair.investorLogin, 25_00n);
  // The event is not delivered before; only the job of the mirror runs, which needs the filed deposit.
  const leaving = world.service.unassign(pair, aCall());
  await expect.poll(() => many(world.deps.pool, sql`select id from flow where mirror_id is null`)).toHaveLength(1);
  await settle(world);
  await expect(leaving).resolves.toMatchObject({ amount: { minorUnits: -525_00n } });
  await settle(world);
  expectMaster(world, pair.masterLogin, 0n);
  await expectBooksToReconcile(world);
});

test("an unassign waits for a mirror in transit, and is refused as busy when it is not applied", async () => {
  const { world, ...pair } = await aPair(500_00n);
  world.platform.rules.delay = ({ key }) => key.startsWith("subscription:mirror:");
  await deposit(world, pair.investorLogin, 25_00n);
  await settle(world);
  await expect(world.service.unassign(pair, aCall({ withinMs: 1_200 }))).rejects.toMatchObject({
    code: "account_busy",
  });
  const leaving = world.service.unassign(pair, aCall());
  world.platform.rules.delay = () => false;
  executeWaiting(world.platform);
  await settle(world);
  await expect(leaving).resolves.toMatchObject({ amount: { minorUnits: -525_00n } });
  await settle(world);
  expectMaster(world, pair.masterLogin, 0n);
  await expectBooksToReconcile(world);
});

test("a subscription whose exit is applied before its last mirror is CANCELLED after that mirror", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const find = () => world.service.findOpenSubscription({ investorLogin: pair.investorLogin }, aCall());
  world.platform.rules.delay = ({ key }) => key.startsWith("subscription:mirror:");
  await withdraw(world, pair.investorLogin, 100_00n, "1");
  await settle(world);
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({ amount: { minorUnits: -400_00n } });
  await settle(world);
  expectMaster(world, pair.masterLogin, 100_00n);
  expect((await find()).subscription).toMatchObject({ status: SubscriptionStatus.PAUSED });
  world.platform.rules.delay = () => false;
  executeWaiting(world.platform);
  await settle(world);
  expectMaster(world, pair.masterLogin, 0n);
  expect((await find()).subscription).toBeUndefined();
  await expectBooksToReconcile(world);
});

test("a hanging try that continues after the next one was decided decides nothing, and money is reserved once", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const first = await holdForWithdrawal(world, investorLogin, 200_00n);
  const { latch, deps } = pausedAt(world, "readAccount");
  const hanging = decideWithdrawal({ deps }, first);
  await latch.reached;
  await release(world, first);
  await beginNextTry(world.deps.pool, first, { from: "WANTED", deadlineAt: first.deadlineAt, recoverInMs: 60_000 });
  const second = await holdForWithdrawal(world, investorLogin, 200_00n);
  await expect(decideWithdrawal(world, second)).resolves.toMatchObject({ try: 2, effective: 200_00n });
  latch.open();
  // It sees what the next try has decided.
  await expect(hanging).resolves.toMatchObject({ try: 2, effective: 200_00n });
  const { holdings } = await poolLedger(world, masterLogin);
  expect(holdings).toMatchObject([{ reserved: 200_00n }]);
  await completeWithdrawal(world, second);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(300_00n);
});

test("flows of +500 and -500 are netted without a call to the platform service, and a subscription whose last outflow is netted is CANCELLED", async () => {
  const { world, ...leaving } = await aPair(500_00n);
  const { masterLogin } = leaving;
  const depositing = await subscribed(world, masterLogin, 500_00n);
  const calls = () => [...world.platform.byKey.keys()].filter((key) => key.startsWith("subscription:mirror:")).length;
  const before = calls();
  await withdraw(world, leaving.investorLogin, 500_00n, "1");
  const { subscription } = await world.service.unassign(leaving, aCall());
  expect(subscription).toMatchObject({ status: SubscriptionStatus.PAUSED });
  await deposit(world, depositing.investorLogin, 500_00n);
  await settle(world);
  expect(await statusOf(world, leaving.id)).toEqual({ status: "CANCELLED", hasEnded: true });
  expect(calls()).toBe(before);
  await expectBooksToReconcile(world);
});

test("external funds stay on the account when a pooled Investor withdraws everything", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.EXTERNAL, amount: 70_00n });
  await deliver(world);
  expect(await withdraw(world, investorLogin, 1_000_00n, "1")).toBe(500_00n);
  await settle(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(70_00n);
  expectMaster(world, masterLogin, 0n);
  await expectBooksToReconcile(world);
});

test("a reserve returned after PAUSED leaves by a further exit transfer, and only then the subscription is CANCELLED", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const find = () => world.service.findOpenSubscription({ investorLogin: pair.investorLogin }, aCall());
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 200_00n);
  await decideWithdrawal(world, withdrawal);
  // The outcome of its debit is still unknown when the Investor leaves.
  await release(world, withdrawal);
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({ amount: { minorUnits: -300_00n } });
  await settle(world);
  expect((await find()).subscription).toMatchObject({ status: SubscriptionStatus.PAUSED });
  await world.service.returnReserve({ key: departureKey(withdrawal) }, aCall());
  await settle(world);
  expect(world.platform.byKey.has(`exit:${pair.id}:2`)).toBe(true);
  expect((await find()).subscription).toBeUndefined();
  expectMaster(world, pair.masterLogin, 0n);
  await expectBooksToReconcile(world);
});
