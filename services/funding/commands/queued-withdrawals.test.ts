import { expect, test } from "vitest";
import { column, execute, many, one, sql } from "#kernel/postgres/query.ts";
import { cancelled, expired } from "#kernel/queue-until-flat.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { crashingProcess } from "#kernel/testing/crash.ts";
import { statesOf } from "#kernel/testing/states.ts";
import { OperationOutcome, QueueState } from "#proto/pamm/funding/v1/funding.ts";
import { buffersRead } from "#test/support/buffers-read.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { cashflowQueues } from "../cashflow-queues.ts";
import type { Deps } from "../deps.ts";
import { runQueued } from "../jobs/run-queued.ts";
import { settleCashflows } from "../jobs/settle-cashflows.ts";
import { fundingService, STATES_FEED } from "../service.ts";
import { saveFollowings } from "../store/investor-facts.ts";
import { markCancelled, markExpired, markReady, readQueue, startTries } from "../store/queued-withdrawals.ts";
import { aCall, aRefusal, INVESTOR, MASTER, usd, type World, world } from "../testing/funding.ts";
import { aQueued, LONG_MS, passTime, queueOf, runJobs } from "../testing/queue.ts";
import { withdraw } from "./withdraw.ts";

const PENDING = { outcome: OperationOutcome.PENDING, refusalCode: "" };

async function aWorld(balance = 100_00n): Promise<World> {
  return await world({ platform: platformFake({ balances: { [INVESTOR]: balance } }), masterMinimum: 0n });
}

/** The Master has open positions at the moment of the request. */
async function queued(deps: World, id: string, overrides: Parameters<typeof aQueued>[0] = {}) {
  deps.refusals.push(aRefusal("master_open_positions"));
  return await withdraw(deps, aQueued(overrides), aCall(id));
}

async function ledger(deps: Deps, operationId: string) {
  return await fundingService(deps).getOperation({ operationId }, aCall("read"));
}

async function cancel(deps: Deps, operationId: string) {
  return await fundingService(deps).cancelOperation({ operationId }, aCall("cancel"));
}

test("a withdrawal waits while the Master has open positions, and is paid once as soon as it is flat", async () => {
  const deps = await aWorld();
  const answer = await queued(deps, "op-1");

  expect(answer).toMatchObject({ operationId: "op-1", requestedAmount: usd(40_00n), dealId: undefined });
  expect(answer.queuedUntil).toBeInstanceOf(Date);
  expect(deps.platform.accountLocks.size).toBe(0);
  expect(await ledger(deps, "op-1")).toMatchObject({ ...PENDING, queueState: QueueState.WAITING, ...pick(answer) });
  await runJobs(deps);
  expect(deps.leaves).toHaveLength(1);
  expect(await readQueue(deps.pool)).toMatchObject({ waiting: 1, overdueSeconds: 0 });

  deps.flatMasters.add(MASTER);
  await passTime(deps.pool, 1_000);
  await runJobs(deps);
  await runJobs(deps);

  expect(deps.leaves.map((leave) => leave.try)).toEqual([1, 2]);
  expect(deps.platform.deals).toMatchObject([{ key: "funding:payout:op-1", minor: -40_00n }]);
  expect(deps.platform.accountLocks.size).toBe(0);
  const ended = { queueState: QueueState.ENDED, ...pick({ queuedUntil: (await ledger(deps, "op-1")).queuedUntil }) };
  expect(await ledger(deps, "op-1")).toMatchObject({ outcome: OperationOutcome.EXECUTED, dealId: 900_002n, ...ended });
  const states = (await statesOf(deps.pool, STATES_FEED)).map(({ kind, state }) => `${kind} ${state}`);
  expect(states).toEqual(["withdrawal pending", "withdrawal executed"]);
  expect(await readQueue(deps.pool)).toEqual({ waiting: 0, oldestSeconds: 0, overdueSeconds: 0 });
});

test("a look at those that wait locks and writes none that stays as it is", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  await execute(deps.pool, sql`update cashflow set queue_look_at = clock_timestamp() + interval '1 hour'`);
  const touched = () =>
    column<string>(deps.pool, sql`select xmin || ' ' || xmax from cashflow where queue_state = 'WAITING'`);
  const before = await touched();
  await runQueued(deps);
  expect(await touched()).toEqual(before);
  deps.flatMasters.add(MASTER);
  await runQueued(deps);
  const ready = await touched();
  expect(ready).not.toEqual(before);
  await runQueued(deps);
  expect(await touched()).toEqual(ready);
});

test("a look reads each that waits once, however many wait", async () => {
  const { pool, ...deps } = await aWorld();
  await queued({ ...deps, pool }, "op-1");
  const copied = await column<string>(
    pool,
    sql`select attname
        from pg_attribute
        where attrelid = 'cashflow'::regclass and attnum > 0 and attidentity = '' and attname <> 'operation_id'`,
  );
  const waiting = 500;
  const names = copied.join(", ");
  await pool.query(`insert into cashflow (operation_id, ${names})
                    select 'copy-' || copy, ${names} from cashflow, generate_series(1, ${waiting - 1}) as copy`);
  for (const flat of [[], [MASTER]]) {
    const buffers = await inTransaction(pool, (tx) => buffersRead(tx, (db) => markReady(db, flat)));
    expect(buffers).toBeLessThan(100 * waiting);
  }
  expect(await readQueue(pool)).toMatchObject({ waiting });
});

function pick({ queuedUntil }: { readonly queuedUntil?: Date | undefined }) {
  expect(queuedUntil).toBeDefined();
  return { queuedUntil };
}

test("a withdrawal that nothing blocks is paid at once, and one that is blocked for another reason is refused", async () => {
  const deps = await aWorld();
  const answer = await withdraw(deps, aQueued(), aCall("op-1"));
  expect(answer).toMatchObject({ effectiveWithdraw: usd(40_00n), dealId: 900_002n });
  expect("queuedUntil" in answer).toBe(false);
  expect((await ledger(deps, "op-1")).queueState).toBeUndefined();

  deps.refusals.push(aRefusal("investor_deficit"));
  await expect(withdraw(deps, aQueued(), aCall("op-2"))).rejects.toMatchObject({ code: "investor_deficit" });
  expect(await queueOf(deps)).toMatchObject([{ queue: "WANTED" }, { queue: "WANTED", refusal: "investor_deficit" }]);
});

test("everything is decided anew: the amount is what is there when the Master is flat", async () => {
  const deps = await aWorld(30_00n);
  await queued(deps, "op-1");
  await queued(deps, "op-2", { amount: 25_00n });
  deps.flatMasters.add(MASTER);
  await passTime(deps.pool, 1_000);
  for (let runs = 0; runs < 4; runs += 1) {
    await runJobs(deps);
    await passTime(deps.pool, 1_000);
  }

  expect(await queueOf(deps)).toMatchObject([{ state: "POSTED" }, { state: "POSTED" }]);
  const paid = deps.platform.deals.reduce((sum, { minor }) => sum + minor, 0n);
  expect(paid).toBe(-30_00n);
});

test("a temporary refusal of a try lets the withdrawal wait on, a final one ends it", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  deps.flatMasters.add(MASTER);
  for (const code of ["master_open_positions", "safety_stop"]) {
    await passTime(deps.pool, 5_000);
    deps.refusals.push(aRefusal(code));
    await runQueued(deps);
    expect(await queueOf(deps)).toEqual([{ id: "op-1", state: "RECORDED", queue: "WAITING", refusal: null }]);
    expect(await ledger(deps, "op-1")).toMatchObject(PENDING);
  }
  expect((await readQueue(deps.pool)).overdueSeconds).toBeGreaterThan(4);
  expect(deps.platform.accountLocks.size).toBe(0);

  await passTime(deps.pool, 5_000);
  deps.refusals.push(aRefusal("investor_deficit"));
  await runQueued(deps);
  expect(await ledger(deps, "op-1")).toMatchObject({
    outcome: OperationOutcome.NOT_EXECUTED,
    refusalCode: "investor_deficit",
    queueState: QueueState.ENDED,
  });
  expect(deps.platform.deals).toEqual([]);
});

test("after a Master was not flat in between, the pauses between tries begin anew", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  deps.flatMasters.add(MASTER);
  for (let tries = 0; tries < 6; tries += 1) {
    await passTime(deps.pool, LONG_MS);
    deps.refusals.push(aRefusal("master_open_positions"));
    await runQueued(deps);
  }
  const { pause } = await one<{ pause: number }>(
    deps.pool,
    sql`select extract(epoch from queue_look_at - clock_timestamp())::float8 as pause from cashflow`,
  );
  expect(pause).toBeGreaterThan(5);

  deps.flatMasters.clear();
  await runQueued(deps);
  deps.flatMasters.add(MASTER);
  await runJobs(deps);
  expect(await queueOf(deps)).toMatchObject([{ state: "POSTED" }]);
});

test("a withdrawal whose time is over ends as expired, and is never tried after it", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1", { queueForMs: BigInt(LONG_MS) });
  await settleCashflows(deps);
  expect(await ledger(deps, "op-1")).toMatchObject(PENDING);

  deps.flatMasters.add(MASTER);
  await passTime(deps.pool, LONG_MS + 1);
  expect(await ledger(deps, "op-1")).toMatchObject(PENDING);
  await runQueued(deps);
  await settleCashflows(deps);

  expect(await ledger(deps, "op-1")).toMatchObject({
    outcome: OperationOutcome.NOT_EXECUTED,
    refusalCode: "expired",
  });
  expect(deps.leaves).toHaveLength(1);
  await expect(withdraw(deps, aQueued({ queueForMs: BigInt(LONG_MS) }), aCall("op-1"))).rejects.toMatchObject({
    code: "expired",
    outcome: "not_executed",
    operationId: "op-1",
  });
  const states = (await statesOf(deps.pool, STATES_FEED)).map(({ state, reason }) => `${state} ${reason}`);
  expect(states).toEqual(["pending ", "not_executed expired"]);
});

test("its caller cancels a withdrawal that waits, also twice, and none that was executed, refused or never queued", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  const end = { outcome: OperationOutcome.NOT_EXECUTED, refusalCode: "cancelled", queueState: QueueState.ENDED };
  expect(await cancel(deps, "op-1")).toMatchObject(end);
  expect(await cancel(deps, "op-1")).toMatchObject(end);
  deps.flatMasters.add(MASTER);
  await passTime(deps.pool, LONG_MS);
  await runJobs(deps);
  expect(deps.platform.deals).toEqual([]);
  await expect(withdraw(deps, aQueued(), aCall("op-1"))).rejects.toMatchObject({
    code: "cancelled",
    operationId: "op-1",
  });

  await withdraw(deps, aQueued(), aCall("op-2"));
  await withdraw(deps, aQueued({ queueForMs: undefined }), aCall("op-3"));
  for (const id of ["op-2", "op-3"]) {
    await expect(cancel(deps, id)).rejects.toMatchObject({ code: "operation_not_cancellable", operationId: id });
  }
  await expect(cancel(deps, "op-4")).rejects.toMatchObject({ code: "operation_not_found" });
});

test("of a try, its caller and its expiry exactly one takes a withdrawal out of the queue", async () => {
  const deps = await aWorld();
  const count = 12;
  for (let index = 0; index < count; index += 1) await queued(deps, `op-${index}`, { amount: 1_00n });
  deps.flatMasters.add(MASTER);
  await passTime(deps.pool, 1_000);
  await execute(
    deps.pool,
    sql`update cashflow set queue_ready_at = clock_timestamp(), queue_look_at = clock_timestamp()`,
  );
  const at = new Date();
  const ends = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const id = `op-${index}`;
      return await Promise.all([
        markCancelled(deps.pool, id, { refusal: cancelled(id), at }),
        startTries(deps.pool, 1).then(([started]) => started?.id),
      ]);
    }),
  );
  const states = await queueOf(deps);
  const wereCancelled = ends.filter(([isCancelled]) => isCancelled).length;
  const started = ends.flatMap(([, id]) => id ?? []);
  expect(new Set(started).size).toBe(started.length);
  expect(states.filter(({ queue }) => queue === "RUNNING")).toHaveLength(started.length);
  expect(states.filter(({ refusal }) => refusal === "cancelled")).toHaveLength(wereCancelled);
  expect(states.filter(({ queue, refusal }) => queue === "RUNNING" && refusal !== null)).toEqual([]);

  // The expiry neither ends one that runs nor one that was cancelled.
  await execute(deps.pool, sql`update cashflow set queue_until = clock_timestamp() - interval '1 second'`);
  const all = await many<{ id: bigint; queue: string; state: string }>(
    deps.pool,
    sql`select id, queue_state as queue, state from cashflow`,
  );
  for (const { id, queue, state } of all) {
    const isExpired = await markExpired(deps.pool, id, { refusal: expired("x"), at });
    expect(isExpired).toBe(queue === "WAITING" && state === "RECORDED");
  }
});

test("a repeated request gets the same operation while it waits, and one that does not expect it is referred to the operation", async () => {
  const deps = await aWorld();
  const idempotencyKey = { clientId: "crm", hash: Buffer.alloc(32, 1), keptSince: new Date(0) };
  deps.refusals.push(aRefusal("master_open_positions"));
  const request = { ...aQueued(), idempotencyKey };
  const first = await withdraw(deps, request, aCall("op-1"));
  expect(await withdraw(deps, request, aCall("op-1"))).toEqual(first);
  expect(await withdraw(deps, request, aCall("op-2"))).toEqual(first);
  expect(await ledger(deps, "op-2")).toMatchObject({ operationId: "op-1", ...PENDING });
  await expect(withdraw(deps, { ...request, queueForMs: undefined }, aCall("op-1"))).rejects.toMatchObject({
    code: "operation_in_progress",
    outcome: "unknown",
    operationId: "op-1",
  });

  deps.flatMasters.add(MASTER);
  await passTime(deps.pool, 1_000);
  await runJobs(deps);
  expect(await withdraw(deps, request, aCall("op-1"))).toMatchObject({
    dealId: 900_002n,
    effectiveWithdraw: usd(40_00n),
  });
  expect(deps.platform.deals).toHaveLength(1);
});

test("an equal withdrawal is a duplicate of one that waits, and another one is executed beside it", async () => {
  const deps = await aWorld();
  const client = { keyId: "crm", choseComment: true, rejectsDuplicates: false };
  deps.refusals.push(aRefusal("master_open_positions"));
  await withdraw(deps, { ...aQueued(), client }, aCall("op-1"));
  await expect(withdraw(deps, { ...aQueued(), client }, aCall("op-2"))).rejects.toMatchObject({
    code: "operation_in_progress",
    operationId: "op-1",
  });
  expect(await withdraw(deps, { ...aQueued({ amount: 1_00n }), client }, aCall("op-3"))).toMatchObject({
    dealId: 900_002n,
  });
});

test("an Investor that has left its pool waits for no Master", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");
  await inTransaction(deps.pool, (tx) => saveFollowings(tx, [{ login: INVESTOR, masterLogin: undefined }]));
  await passTime(deps.pool, 1_000);
  await runJobs(deps);

  expect(deps.flatCalls).toEqual([]);
  expect(await queueOf(deps)).toMatchObject([{ state: "POSTED" }]);
});

test("at most twenty withdrawals of one Investor wait, and one question is asked for all of them", async () => {
  const deps = await aWorld();
  for (let index = 0; index < 20; index += 1) await queued(deps, `op-${index}`, { amount: 1_00n });
  await expect(queued(deps, "op-20")).rejects.toMatchObject({ code: "too_many_queued", outcome: "not_executed" });
  expect(deps.platform.accountLocks.size).toBe(0);
  await cancel(deps, "op-7");
  await queued(deps, "op-21");

  const list = { login: "", outcome: OperationOutcome.UNSPECIFIED, beforeId: "", limit: 30 };
  const waiting = await fundingService(deps).listOperations({ ...list, queueState: QueueState.WAITING }, aCall("read"));
  expect(waiting.items.map(({ operationId }) => operationId)).toHaveLength(20);
  const running = await fundingService(deps).listOperations({ ...list, queueState: QueueState.RUNNING }, aCall("read"));
  expect(running.items).toEqual([]);
  await runQueued(deps);
  expect(deps.flatCalls).toEqual([[MASTER]]);
});

test("a withdrawal that waits is decided by no statement that leaves it waiting", async () => {
  const deps = await aWorld();
  await queued(deps, "op-1");

  const leaving = execute(deps.pool, sql`update cashflow set state = 'LEAVING'`);
  await expect(leaving).rejects.toThrow("cashflow_waits_undecided");
});

test("a time to wait out of bounds is refused with its field", async () => {
  const deps = await aWorld();
  for (const queueForMs of [0n, 999n, 30n * 86_400_000n + 1n]) {
    await expect(withdraw(deps, aQueued({ queueForMs }), aCall("op-1"))).rejects.toMatchObject({
      errors: [{ field: "expires_in", code: "out_of_range" }],
    });
  }
});

/** A process of this service that dies after so many statements, starts and ends of calls. */
function dying(deps: World, points: number) {
  const { pool, client, crashed, pointsPassed } = crashingProcess(deps.pool, points);
  const others = {
    platform: client(deps.platform),
    fees: client(deps.fees),
    accounts: client(deps.accounts),
    subscriptions: client(deps.subscriptions),
  };
  return { deps: { ...deps, ...others, pool, queues: cashflowQueues(pool) } as World, crashed, pointsPassed };
}

test("a process that dies at any point of a request or of a try leaves a withdrawal that waits, was refused or is paid once", async () => {
  const deps = await aWorld(10_000_00n);
  // From now on the facts about the Investor are known.
  await queued(deps, "first");
  await cancel(deps, "first");
  const ends = new Map<string, number>();
  let number = 0;
  for (const step of ["request", "try"] as const) {
    for (let points = 0, isOver = false; !isOver; points += 1) {
      const id = `${step}-${(number += 1)}`;
      deps.flatMasters.delete(MASTER);
      if (step === "try") {
        await queued(deps, id, { amount: 1_00n });
        await passTime(deps.pool, LONG_MS);
        deps.flatMasters.add(MASTER);
        // The first try finds positions after all, so that both ways out of a try are crashed.
        if (points % 2 === 1) deps.refusals.push(aRefusal("master_open_positions"));
      } else {
        deps.refusals.push(aRefusal("master_open_positions"));
      }
      const process = dying(deps, points);
      const work =
        step === "request" ? withdraw(process.deps, aQueued({ amount: 1_00n }), aCall(id)) : runQueued(process.deps);
      isOver = (await Promise.race([work.then(() => true), process.crashed.then(() => false)])) && points > 10;
      deps.refusals.length = 0;
      await passTime(deps.pool, LONG_MS);
      // The Master trades while the recovery job runs: what it tries is refused again, as the subscription service has recorded.
      deps.flatMasters.delete(MASTER);
      if (step === "request") deps.refusals.push(aRefusal("master_open_positions"));
      await runJobs(deps);
      deps.refusals.length = 0;
      await passTime(deps.pool, LONG_MS);
      deps.flatMasters.add(MASTER);
      await runJobs(deps);
      await passTime(deps.pool, LONG_MS);
      await runJobs(deps);

      const found = (await queueOf(deps)).find((row) => row.id === id);
      const end = found === undefined ? "nothing" : `${found.state} ${found.refusal ?? ""}`;
      ends.set(`${step} ${end}`, (ends.get(`${step} ${end}`) ?? 0) + 1);
      const deals = deps.platform.deals.filter(({ key }) => key === `funding:payout:${id}`).length;
      expect(deals, `${step} after ${points} points: ${end}`).toBe(found?.state === "POSTED" ? 1 : 0);
      expect(deps.platform.accountLocks.size).toBe(0);
    }
  }
  expect([...ends.keys()].toSorted()).toEqual([
    "request POSTED ",
    "request REFUSED platform_unavailable",
    "request nothing",
    "try POSTED ",
  ]);
});
