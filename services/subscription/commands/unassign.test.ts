import { expect, test, vi } from "vitest";
import { poolLedger } from "../testing/ledger.ts";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { completeWithdrawal, decideWithdrawal, deposit, holdForWithdrawal } from "../testing/funding.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, aPair, settleAndReconcile } from "../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld } from "../testing/world.ts";

test("an unassign returns what it committed: PAUSED, the payout and its transfer", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const { exits, results } = world.deps.wakeSignals;
  const [exitsNotified, resultsNotified] = [vi.spyOn(exits, "notify"), vi.spyOn(results, "notify")];
  const call = aCall();
  const answer = await world.service.unassign(pair, call);
  // Two commands of one subscription have different locks.
  expect(world.platform.released.at(-1)).toBe(`subscription:departure:${call.commandId}:1`);
  // After the commit that made the transfer, and after its first try, which decides when the next one is due.
  expect(exitsNotified).toHaveBeenCalledTimes(2);
  // No deal has waited.
  expect(resultsNotified).not.toHaveBeenCalled();
  const transfer = world.platform.byKey.get(`exit:${pair.id}:1`);
  expect(answer).toMatchObject({
    subscription: { id: pair.id, status: SubscriptionStatus.PAUSED, inPool: false, endedAt: undefined },
    payoutEnqueued: true,
    transferId: transfer!.result.transferId,
    amount: { currencyCode: "USD", minorUnits: -500_00n },
  });
  expect(transfer!.request).toMatchObject({ lockOwner: "", enqueue: true, legs: [{ kind: MovementKind.EXIT }] });
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
});

test("an exit publishes requested when the pool is left, and completed when the last cent has left the Master", async () => {
  const { world, ...pair } = await aPair(500_00n);
  await world.service.unassign(pair, { ...aCall(), requestId: "req-7" });
  await settle(world);
  const published = await many(
    world.deps.pool,
    sql`select subject, request_id from outbox where feed = 'subscription.exits' order by id`,
  );
  expect(published).toEqual([
    { subject: `exit.v1.requested.${pair.masterLogin}`, request_id: "req-7" },
    { subject: `exit.v1.completed.${pair.masterLogin}`, request_id: "" },
  ]);
});

test("a request with several invalid fields is refused with all of them", async () => {
  const world = await aWorld();
  await expect(world.service.unassign({ masterLogin: "", investorLogin: "" }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "master_login" }, { field: "investor_login" }],
  });
});

test("an unknown Master, an unknown Investor, and a pair without a subscription or with a refused one, are refused", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 1n) };
  const unassign = (request: typeof pair) => world.service.unassign(request, aCall());
  await expect(unassign(pair)).rejects.toMatchObject({ code: "subscription_not_found", status: "not_found" });
  await expect(unassign({ ...pair, masterLogin: "99" })).rejects.toMatchObject({ code: "master_not_found" });
  await expect(unassign({ ...pair, investorLogin: "99" })).rejects.toMatchObject({ code: "investor_not_found" });
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toThrow();
  await expect(unassign(pair)).rejects.toMatchObject({ code: "subscription_not_found" });
});

test("a repeated command gets the same answer, also after later changes", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const call = aCall();
  const first = await world.service.unassign(pair, call);
  await expect(world.service.unassign(pair, call)).resolves.toEqual(first);
  await settle(world);
  await expect(world.service.unassign(pair, call)).resolves.toEqual(first);
});

test("concurrent deliveries of one command execute one exit and get the same answer", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const call = aCall();
  const answers = await Promise.all([1, 2, 3].map(() => world.service.unassign(pair, call)));
  expect(new Set(answers.map(({ transferId }) => transferId)).size).toBe(1);
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
});

test("of ten concurrent unassigns one succeeds, and the others are refused with exit_in_progress", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => world.service.unassign(pair, aCall())));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const answer of answers) {
    if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "exit_in_progress" });
  }
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
});

test("an unassign waits for an incomplete log of the Master, and is refused when it stays incomplete", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const master = getAccount(world.platform.ledger, pair.masterLogin);
  master.isComplete = false;
  await expect(world.service.unassign(pair, aCall({ withinMs: 1_200 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
    retryAfterMs: expect.any(Number),
  });
  setTimeout(() => (master.isComplete = true), 200);
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({ payoutEnqueued: true });
  const { tries } = await one<{ tries: number }>(
    world.deps.pool,
    sql`select try as tries from departure order by try desc limit 1`,
  );
  expect(tries).toBeGreaterThan(2);
});

test("external funds on the account become the Investor's own money when it leaves", async () => {
  const { world, ...pair } = await aPair(500_00n);
  enter(world.platform.ledger, pair.investorLogin, { kind: MovementKind.EXTERNAL, amount: 70_00n });
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({ amount: { minorUnits: -500_00n } });
  const { holdings } = await poolLedger(world, pair.masterLogin);
  expect(holdings).toMatchObject([{ outside: 570_00n, quarantined: 0n, outbound: 500_00n }]);
  await settleAndReconcile(world);
});

test("deposits and withdrawals while PAUSED stay outside and are not mirrored", async () => {
  const { world, ...pair } = await aPair(500_00n);
  world.platform.rules.delay = ({ key }) => key.startsWith("exit:");
  await world.service.unassign(pair, aCall());
  await deposit(world, pair.investorLogin, 30_00n);
  await deliver(world);
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 1_000_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({
    subscriptionId: null,
    masterLogin: null,
    before: 530_00n,
    effective: 530_00n,
  });
  await completeWithdrawal(world, withdrawal);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(500_00n);
});

test("an exit above the maximum of one transfer is split, and the answer names the first transfer", async () => {
  const { world, ...pair } = await aPair(250_000_000_000n);
  const { transferId, amount } = await world.service.unassign(pair, aCall());
  expect(amount).toMatchObject({ minorUnits: -250_000_000_000n });
  expect(world.platform.byKey.get(`exit:${pair.id}:1`)!.result.transferId).toBe(transferId);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
  for (const { request } of world.platform.byKey.values()) {
    for (const { amount: moved } of request.legs) expect(moved!.minorUnits).toBeLessThanOrEqual(100_000_000_000n);
  }
});
