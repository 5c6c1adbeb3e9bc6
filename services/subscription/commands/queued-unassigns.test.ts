import { expect, test, vi } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { cancelled, expired } from "#catalogue/queue-until-flat.ts";
import { recordedAs } from "#kernel/values/refusal.ts";
import { statesOf } from "#kernel/testing/states.ts";
import { OperationOutcome, QueueState } from "#proto/pamm/funding/v1/funding.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { runQueued } from "../jobs/run-queued.ts";
import { STATES_FEED } from "../service.ts";
import { markCancelled, markExpired, readQueue, startTries } from "../store/departure-queue.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { CRASH_TEST_MS, statusOf } from "../testing/crash-at-every-point.ts";
import { pausedAt } from "../testing/paused.ts";
import { deliver, type Pair, settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { tradingPair } from "../testing/trading-pairs.ts";
import { aCall, aMaster, aWorld, passTime, type World } from "../testing/world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

const WEEK_MS = 604_800_000n;
const PENDING = { outcome: OperationOutcome.PENDING, refusalCode: "" };

function request({ masterLogin, investorLogin }: Pair, queueForMs = WEEK_MS) {
  return { masterLogin, investorLogin, queueForMs };
}

async function ledger(world: World, operationId: string) {
  return await world.service.getOperation({ operationId }, aCall());
}

/** A Master that trades, an Investor in its pool, and an unassign that waits. */
async function queued(world: World, queueForMs = WEEK_MS) {
  const trading = await tradingPair(world);
  const call = aCall();
  const answer = await world.service.unassign(request(trading.pair, queueForMs), call);
  return { ...trading, call, answer, id: call.commandId };
}

test("an unassign waits while the Master has open positions, and is executed once as soon as it is flat", async () => {
  const world = await aWorld();
  const { pair, master, position, call, answer, id } = await queued(world);

  expect(answer).toMatchObject({
    subscription: { status: SubscriptionStatus.ACTIVE, inPool: true },
    payoutEnqueued: false,
    transferId: undefined,
    amount: { minorUnits: 0n },
  });
  expect(answer.queuedUntil).toBeInstanceOf(Date);
  expect(await ledger(world, id)).toMatchObject({ ...PENDING, queueState: QueueState.WAITING });
  expect(await world.service.unassign(request(pair), call)).toEqual(answer);
  await expect(world.service.unassign(pair, call)).rejects.toMatchObject({
    code: "operation_in_progress",
    outcome: "unknown",
    operationId: id,
  });
  await passTime(world, 5_000);
  await settle(world);
  expect(await readQueue(world.deps.pool, "EXIT")).toMatchObject({ waiting: 1, overdueSeconds: 0 });
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();

  master.close(position);
  await settle(world);
  await passTime(world, 1_000);
  await settle(world);

  expect(await statusOf(world, pair.investorLogin)).toBe("CANCELLED");
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
  expect(await ledger(world, id)).toMatchObject({
    outcome: OperationOutcome.EXECUTED,
    queueState: QueueState.ENDED,
    queuedUntil: expect.any(Date),
  });
  expect(await world.service.unassign(request(pair), call)).toMatchObject({ amount: { minorUnits: -500_00n } });
  expect(await readQueue(world.deps.pool, "EXIT")).toEqual({ waiting: 0, oldestSeconds: 0, overdueSeconds: 0 });
  expect(await noted(world)).toEqual(["pending ", "executed "]);
  await expectBooksToReconcile(world);
});

async function noted({ deps: { pool } }: World) {
  const states = await statesOf(pool, STATES_FEED);
  return states.filter(({ kind }) => kind === "unassign").map(({ state, reason }) => `${state} ${reason}`);
}

test("a queued unassign of an Investor that is archived meanwhile ends CANCELLED with 0.00, as soon as the Master is flat", async () => {
  const world = await aWorld();
  const { platform } = world;
  const pair = await subscribed(world, aMaster(world, 0n), 0n);
  await subscribed(world, pair.masterLogin, 500_00n);
  const master = trader(world, pair.masterLogin);
  const position = master.open();
  await settle(world);
  const call = aCall();
  expect((await world.service.unassign(request(pair), call)).queuedUntil).toBeInstanceOf(Date);
  platform.ledger.archived.add(pair.investorLogin);
  await passTime(world, 5_000);
  await settle(world);
  expect(await ledger(world, call.commandId)).toMatchObject(PENDING);

  master.close(position, { profit: 100_00n });
  // That it is archived is not confirmed yet: platform refuses its lock, and the unassign waits on.
  const { hold } = platform.faults;
  hold.push(...Array.from({ length: 20 }, () => "unreachable" as const));
  await settle(world);
  expect(hold.length).toBeLessThan(20);
  expect(await ledger(world, call.commandId)).toMatchObject(PENDING);
  hold.length = 0;
  await passTime(world, 60_000);
  await settle(world);
  expect(await statusOf(world, pair.investorLogin)).toBe("CANCELLED");
  expect(await ledger(world, call.commandId)).toMatchObject({ outcome: OperationOutcome.EXECUTED });
  expect(await world.service.unassign(request(pair), call)).toMatchObject({ amount: { minorUnits: 0n } });
  expect(await noted(world)).toEqual(["pending ", "executed "]);
  expect(balanceOf(platform.ledger, pair.masterLogin)).toBe(600_00n);
  await expectBooksToReconcile(world);
});

test("of one subscription one unassign waits; another one at once ends both when the Master is flat", async () => {
  const world = await aWorld();
  const { pair, master, position, id } = await queued(world);
  await expect(world.service.unassign(request(pair), aCall())).rejects.toMatchObject({
    code: "operation_in_progress",
    outcome: "not_executed",
    operationId: id,
  });

  master.close(position);
  await world.service.unassign(pair, aCall());
  await settle(world);
  await passTime(world, 1_000);
  await settle(world);
  const { outcome, refusalCode } = await ledger(world, id);
  expect(outcome).toBe(OperationOutcome.NOT_EXECUTED);
  expect(["exit_in_progress", "subscription_not_active"]).toContain(refusalCode);
  await expectBooksToReconcile(world);
});

test("an unassign whose time is over ends as expired, and one that its caller cancels as cancelled", async () => {
  const world = await aWorld();
  const { pair, master, position, call, id } = await queued(world, 60_000n);
  await passTime(world, 60_001);
  expect(await ledger(world, id)).toMatchObject(PENDING);
  master.close(position);
  await settle(world);
  expect(await ledger(world, id)).toMatchObject({
    outcome: OperationOutcome.NOT_EXECUTED,
    refusalCode: "expired",
    queueState: QueueState.ENDED,
  });
  await expect(world.service.unassign(request(pair), call)).rejects.toMatchObject({ code: "expired", operationId: id });
  expect(await statusOf(world, pair.investorLogin)).toBe("ACTIVE");

  master.open();
  await settle(world);
  const second = aCall();
  await world.service.unassign(request(pair), second);
  const waiting = { login: "", outcome: OperationOutcome.UNSPECIFIED, beforeId: "", limit: 10, comment: undefined };
  const listed = await world.service.listOperations({ ...waiting, queueState: QueueState.WAITING }, aCall());
  expect(listed.items.map(({ operationId }) => operationId)).toEqual([second.commandId]);
  for (let times = 0; times < 2; times += 1) {
    expect(await world.service.cancelOperation({ operationId: second.commandId }, aCall())).toMatchObject({
      outcome: OperationOutcome.NOT_EXECUTED,
      refusalCode: "cancelled",
    });
  }
  await expect(world.service.cancelOperation({ operationId: id }, aCall())).rejects.toMatchObject({
    code: "operation_not_cancellable",
  });
  await expect(world.service.cancelOperation({ operationId: "none" }, aCall())).rejects.toMatchObject({
    code: "operation_not_found",
  });
  expect(await noted(world)).toEqual(["pending ", "not_executed expired", "pending ", "not_executed cancelled"]);
});

test("an unassign whose later try runs is not cancelled, and a repetition gets the answer of one that waits", async () => {
  const world = await aWorld();
  const { pair, master, position, call, answer, id } = await queued(world);
  master.close(position);
  await deliver(world);
  while (await allocateResults(world.deps));
  await passTime(world, 1_000);
  const { latch, deps } = pausedAt(world, "hold");
  const running = runQueued(deps);
  await latch.reached;
  expect(await ledger(world, id)).toMatchObject({ ...PENDING, queueState: QueueState.RUNNING });
  await expect(world.service.cancelOperation({ operationId: id }, aCall())).rejects.toMatchObject({
    code: "operation_not_cancellable",
  });
  expect(await world.service.unassign(request(pair), call)).toEqual({ ...answer, queuedUntil: expect.any(Date) });
  latch.open();
  await running;
  expect(await world.service.unassign(request(pair), call)).toMatchObject({ amount: { minorUnits: -500_00n } });
});

test("of a try, its caller and its expiry exactly one takes an unassign out of the queue", async () => {
  const world = await aWorld();
  const all = [];
  for (let index = 0; index < 4; index += 1) all.push(await queued(world));
  const { pool } = world.deps;
  await execute(pool, sql`update departure set ready_at = clock_timestamp(), next_try_at = clock_timestamp()`);
  const at = new Date();
  const [claims, cancels] = await Promise.all([
    Promise.all(all.map(() => inTransaction(pool, (tx) => startTries(tx, 1)))),
    Promise.all(all.map(({ id }) => markCancelled(pool, id, { refusal: recordedAs(cancelled()), at }))),
  ]);
  await execute(pool, sql`update departure set queue_until = clock_timestamp() - interval '1 second'`);
  const expiries = await markExpired(pool, 10, { refusal: recordedAs(expired()), at });
  const claimed = claims.flat().length;
  const cancelledCount = cancels.flat().length;
  expect(claimed + cancelledCount + expiries.length).toBe(all.length);
  expect(await many(pool, sql`select from departure where state = 'WANTED'`)).toHaveLength(claimed);
});
