import { expect, test, vi } from "vitest";
import { balances } from "../testing/ledger.ts";
import { column, execute, many, one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { WithdrawalChanged, WithdrawalProgress } from "#proto/pamm/subscription/v1/events.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { sized } from "#test/support/proof.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { buffersRead } from "#test/support/buffers-read.ts";
import { getAccount } from "#test/support/platform-fake/ledger.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { runQueued } from "../jobs/run-queued.ts";
import { settleDepartures } from "../jobs/settle-departures.ts";
import { subscriptionService } from "../service.ts";
import { markReady, readQueue } from "../store/departure-queue.ts";
import { insertDepartures } from "../store/departures.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { anOperation, crashAtEveryPoint, CRASH_TEST_MS, endOf, recover } from "../testing/crash-at-every-point.ts";
import { requestWithdrawal } from "../testing/funding.ts";
import { pausedAt } from "../testing/paused.ts";
import { deliver, type Pair, settle, aPair } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { tradingPair, tradingPairs } from "../testing/trading-pairs.ts";
import { aCall, aWorld, passTime, type World } from "../testing/world.ts";
import { WITHDRAWAL_FEED } from "../messages/capital-events.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

const { PAID, REFUSED, RUNNING, WAITING } = WithdrawalState;

const HOUR_MS = 3_600_000;
/** Longer than every pause, claim and deadline. */
const LONG_MS = 60_000;

const cents = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });

function queueUntil({ deps }: Pick<World, "deps">, ms = HOUR_MS): Date {
  return new Date(deps.now().getTime() + ms);
}

/** Requests a withdrawal that may wait. */
async function queue(
  world: Pick<World, "service" | "deps">,
  { investorLogin }: Pick<Pair, "investorLogin">,
  operationId: string,
  { amount = 200_00n, forMs = HOUR_MS } = {},
) {
  return await requestWithdrawal(world, investorLogin, amount, { operationId, queueUntil: queueUntil(world, forMs) });
}

async function cancel({ service }: World, operationId: string) {
  return await service.cancelWithdrawal({ operationId }, aCall());
}

/** What `funding` is published, in its order. */
async function published({ deps }: World): Promise<string[]> {
  const rows = await many<{ payload: Buffer }>(
    deps.pool,
    sql`select payload from outbox where feed = ${WITHDRAWAL_FEED} order by id`,
  );
  return rows.map(({ payload }) => {
    const { operationId, progress } = WithdrawalChanged.decode(payload);
    const name = Object.entries(WithdrawalProgress).find(([, value]) => value === progress)?.[0];
    return `${operationId} ${name}`;
  });
}

/** Delivers and allocates, runs the queue, and lets pauses pass. */
async function runLater(world: World, ms = 1_000): Promise<void> {
  await settle(world);
  await passTime(world, ms);
  await settle(world);
}

test("a withdrawal waits while the Master has open positions, and is paid once as soon as it is flat", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  const answer = await queue(world, pair, "W1");
  expect(answer).toMatchObject({ state: WAITING, figures: undefined, hasWaited: true });
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  expect(await queue(world, pair, "W1")).toEqual(answer);
  await passTime(world, 5_000);
  await settle(world);
  expect(await readQueue(world.deps.pool, "WITHDRAWAL")).toMatchObject({ waiting: 1, overdueSeconds: 0 });
  expect(await readQueue(world.deps.pool, "EXIT")).toMatchObject({ waiting: 0 });
  expect(await published(world)).toEqual(["W1 WAITING"]);

  // The amount is what is there then.
  master.close(position, { profit: 50_00n });
  await runLater(world);
  expect(await endOf(world, "W1")).toBe("ENDED 20000");
  const ended = await queue(world, pair, "W1");
  expect(ended).toMatchObject({
    state: PAID,
    figures: { balanceBefore: cents(550_00n), effective: cents(200_00n) },
    hasWaited: true,
  });
  expect(await queue(world, pair, "W1")).toEqual(ended);
  expect(await published(world)).toEqual(["W1 WAITING", "W1 RUNNING", "W1 ENDED"]);
  expect(await readQueue(world.deps.pool, "WITHDRAWAL")).toEqual({ waiting: 0, oldestSeconds: 0, overdueSeconds: 0 });
  expect(balances(world, pair.investorLogin, pair.masterLogin)).toEqual([350_00n, 350_00n]);
  await expectBooksToReconcile(world);
});

test("one that nothing blocks is paid at once and never waits; one that is blocked for another reason is refused", async () => {
  const { world, ...pair } = await aPair(500_00n);
  expect(await queue(world, pair, "W1")).toMatchObject({ state: PAID, hasWaited: false });
  trader(world, pair.masterLogin).result(-400_00n);
  expect(await queue(world, pair, "W2")).toMatchObject({
    state: REFUSED,
    refusal: { code: "investor_deficit" },
    hasWaited: false,
  });
  expect(await published(world)).toEqual([]);
});

test("a refusal of a later try that may pass lets it wait on, a final one ends it", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1");
  await untilReady(world, () => master.close(position, { profit: -600_00n }));
  world.platform.faults.hold.push("account_busy");
  await runQueued(world.deps);
  expect(await endOf(world, "W1")).toBe("WAITING");
  expect(await published(world)).toEqual(["W1 WAITING", "W1 RUNNING", "W1 WAITING"]);
  const stop = (reason: string | null) =>
    execute(world.deps.pool, sql`update master_pool set stopped_reason = ${reason}`);
  await stop("a test");
  await passTime(world, 5_000);
  await runQueued(world.deps);
  expect(await endOf(world, "W1")).toBe("WAITING");
  expect((await readQueue(world.deps.pool, "WITHDRAWAL")).overdueSeconds).toBeGreaterThan(4);
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();

  await stop(null);
  await passTime(world, 5_000);
  await runQueued(world.deps);
  expect(await queue(world, pair, "W1")).toMatchObject({
    state: REFUSED,
    refusal: { code: "investor_deficit" },
    hasWaited: true,
  });
  expect((await published(world)).slice(-2)).toEqual(["W1 RUNNING", "W1 ENDED"]);
});

test("after a Master was not flat in between, the pauses between tries begin anew", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1");
  master.close(position);
  await deliver(world);
  while (await allocateResults(world.deps));
  for (let tries = 0; tries < 6; tries += 1) {
    await passTime(world, LONG_MS);
    world.platform.faults.hold.push("account_busy");
    await runQueued(world.deps);
  }
  const { pause } = await one<{ pause: number }>(
    world.deps.pool,
    sql`select extract(epoch from next_try_at - clock_timestamp())::float8 as pause from departure`,
  );
  expect(pause).toBeGreaterThan(5);

  const again = master.open();
  await settle(world);
  master.close(again);
  await settle(world);
  expect(await endOf(world, "W1")).toBe("ENDED 20000");
});

test("one whose time is over ends as expired, and is never tried after it", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1", { forMs: LONG_MS });
  await settle(world);
  await passTime(world, LONG_MS + 1);
  master.close(position);
  await deliver(world);
  while (await allocateResults(world.deps));
  expect((await queue(world, pair, "W1")).state).toBe(WAITING);
  await runQueued(world.deps);
  const end = { state: REFUSED, refusal: { code: "expired" }, hasWaited: true };
  expect(await queue(world, pair, "W1")).toMatchObject(end);
  await runLater(world, LONG_MS);
  expect(await queue(world, pair, "W1")).toMatchObject(end);
  expect(await endOf(world, "W1")).toBe("REFUSED");
  expect(await published(world)).toEqual(["W1 WAITING", "W1 ENDED"]);
});

test("one that waits can be cancelled, also twice, and none that was paid, refused, never queued or is not known", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1");
  expect([await cancel(world, "W1"), await cancel(world, "W1")]).toEqual([{}, {}]);
  await requestWithdrawal(world, pair.investorLogin, 1_00n, { operationId: "W2" });
  master.close(position);
  await runLater(world, LONG_MS);
  expect(await queue(world, pair, "W1")).toMatchObject({
    state: REFUSED,
    refusal: { code: "cancelled" },
    hasWaited: true,
  });
  expect(await endOf(world, "W1")).toBe("REFUSED");
  expect(await published(world)).toEqual(["W1 WAITING", "W1 ENDED"]);

  await queue(world, pair, "W3");
  await requestWithdrawal(world, pair.investorLogin, 1_00n, { operationId: "W4" });
  for (const id of ["W2", "W3", "W4", "W5"]) {
    await expect(cancel(world, id)).rejects.toMatchObject({ code: "operation_not_cancellable", operationId: id });
  }
});

test("one whose later try runs is not cancelled, and a repetition learns that it runs", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1");
  await untilReady(world, () => master.close(position));
  const { latch, deps } = pausedAt(world, "hold");
  const running = runQueued(deps);
  await latch.reached;
  await expect(cancel(world, "W1")).rejects.toMatchObject({ code: "operation_not_cancellable" });
  expect(await queue(world, pair, "W1")).toMatchObject({ state: RUNNING, hasWaited: true });
  latch.open();
  await running;
  expect(await endOf(world, "W1")).toBe("ENDED 20000");
});

test("at most twenty withdrawals of one Investor wait; the next one is refused until one has ended", async () => {
  const world = await aWorld();
  const { pair } = await tradingPair(world);
  for (let index = 0; index < 20; index += 1) await queue(world, pair, `W${index}`, { amount: 1_00n });
  expect(await queue(world, pair, "W20")).toMatchObject({
    state: REFUSED,
    refusal: { code: "too_many_queued" },
    hasWaited: false,
  });
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  await cancel(world, "W7");
  expect((await queue(world, pair, "W21")).state).toBe(WAITING);
  expect(await readQueue(world.deps.pool, "WITHDRAWAL")).toMatchObject({ waiting: 20 });
});

test("one of an Investor that has left the pool waits for no Master", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1");
  master.close(position);
  await world.service.unassign(pair, aCall());
  master.open();
  await runLater(world);
  expect(await endOf(world, "W1")).toBe("ENDED 20000");
  expect(await queue(world, pair, "W1")).toMatchObject({ state: PAID, inPool: false });
  await expectBooksToReconcile(world);
});

test("one whose first process is gone waits, and its late answer does not change that", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  const { latch, ...replica } = pausedAt(world, "readAccount");
  const late = queue(replica, pair, "W1");
  await latch.reached;
  await passTime(world, LONG_MS);
  await settleDepartures(world.deps);
  expect(await endOf(world, "W1")).toBe("WAITING");
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  master.close(position);
  latch.open();
  expect(await late).toMatchObject({ state: WAITING, hasWaited: true });
  expect(await published(world)).toEqual(["W1 WAITING"]);
  await runLater(world);
  expect(await endOf(world, "W1")).toBe("ENDED 20000");
  await expectBooksToReconcile(world);
});

test("one whose account lock is not released yet is tried only when it is", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  world.platform.faults.release.push("unreachable");
  expect((await queue(world, pair, "W1")).state).toBe(WAITING);
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBe("subscription:departure:W1:1");
  await untilReady(world, () => master.close(position));
  await runQueued(world.deps);
  expect(await endOf(world, "W1")).toBe("WAITING");
  await settleDepartures(world.deps);
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  await passTime(world, LONG_MS);
  await runQueued(world.deps);
  expect(await endOf(world, "W1")).toBe("ENDED 20000");
});

test("a look reads each that waits once, however many wait, and writes none that stays as it is", async () => {
  const world = await aWorld();
  const { pair, master, position } = await tradingPair(world);
  await queue(world, pair, "W1");
  const { pool } = world.deps;
  // A planner that has seen one that waits expects few.
  await asOwner(pool, "subscription", "analyze");
  const waiting = 500;
  const at = world.deps.now();
  const times = { at, deadlineAt: at, recoverInMs: LONG_MS, queueUntil: queueUntil(world) };
  await insertDepartures(
    pool,
    Array.from({ length: waiting - 1 }, (_, index) => {
      const none = { comment: "", subscriptionId: null, masterLogin: null };
      const own = { kind: "WITHDRAWAL", requested: 1n, investorLogin: pair.investorLogin, ...none } as const;
      return { ...own, ...times, operationId: `copy-${index}`, requestId: "" };
    }),
  );
  await execute(
    pool,
    sql`update departure set state = 'WAITING', has_waited = true, lock_owner = null, next_try_at = ${queueUntil(world)}`,
  );
  const touched = () => column<string>(pool, sql`select xmin || ' ' || xmax from departure order by operation_id`);
  const before = await touched();
  const look = () => inTransaction(pool, (tx) => buffersRead(tx, (db) => markReady(db)));
  expect(await look()).toBeLessThan(100 * waiting);
  expect(await touched()).toEqual(before);
  master.close(position);
  await deliver(world);
  while (await allocateResults(world.deps));
  expect(await look()).toBeLessThan(100 * waiting);
  const ready = await touched();
  expect(ready.filter((row, index) => row === before[index])).toEqual([]);
  await look();
  expect(await touched()).toEqual(ready);
  expect(await readQueue(pool, "WITHDRAWAL")).toMatchObject({ waiting });
});

/** Investors of Masters that trade, each with the operation that it will request. */
async function withOperations(world: World, count: number) {
  return (await tradingPairs(world, count)).map((each) => {
    const operation = anOperation();
    return { ...each, operation: { ...operation, queueUntil: operation.deadline } };
  });
}

type Trading = Awaited<ReturnType<typeof withOperations>>[number];

async function request(world: Pick<World, "service" | "deps">, { pair, operation }: Trading) {
  return await requestWithdrawal(world, pair.investorLogin, 200_00n, operation);
}

/** The Masters are flat, so each withdrawal is paid. */
async function expectAllPaid(world: World, cases: readonly Trading[]): Promise<void> {
  await recover(world);
  for (const each of cases) {
    const { pair, operation } = each;
    expect(await endOf(world, operation.operationId)).toBe("ENDED 20000");
    expect((await request(world, each)).state).toBe(PAID);
    expect(balances(world, pair.investorLogin, pair.masterLogin)).toEqual([300_00n, 300_00n]);
    expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  }
  await expectBooksToReconcile(world);
}

test("a process that dies at any point of a request that has to wait leaves a withdrawal that waits, or nothing", async () => {
  const world = await aWorld();
  const cases = await crashAtEveryPoint(world, {
    prepare: (count) => withOperations(world, count),
    run: (deps, each) => request({ service: subscriptionService(deps), deps }, each),
  });
  const ends = new Set<string>();
  for (const each of cases) {
    ends.add(await endOf(world, each.operation.operationId));
    expect(getAccount(world.platform.ledger, each.pair.investorLogin).lockOwner).toBeUndefined();
    expect((await request(world, each)).state).toBe(WAITING);
    each.close();
  }
  expect(ends).toEqual(new Set(["nothing", "WAITING"]));
  await expectAllPaid(world, cases);
});

test("a process that dies at any point of a try leaves a withdrawal that is paid once", async () => {
  const world = await aWorld();
  const cases = await crashAtEveryPoint(world, {
    prepare: (count) => waitingPairs(world, count),
    run: async (deps, { close }) => {
      await untilReady(world, close);
      // The others still trade, so this is the only one that is ready.
      await runQueued(deps);
    },
    stride: sized({ test: 11, proof: 1 }),
  });
  await expectAllPaid(world, cases);
});

async function waitingPairs(world: World, count: number): Promise<Trading[]> {
  const all = await withOperations(world, count);
  for (const each of all) await request(world, each);
  return all;
}

/** The Master is flat by the books, and the pause of its try is over. */
async function untilReady(world: World, close: () => unknown): Promise<void> {
  close();
  await deliver(world);
  while (await allocateResults(world.deps));
  await passTime(world, 1_000);
}
