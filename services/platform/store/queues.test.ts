import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { aManagedLogin, aWaitingLeg } from "../testing/rows.ts";
import { fenceOwnAttempts, markAttempt } from "./attempts.ts";
import { requestLocks, listReleased, releaseLock, withdrawRequest } from "./account-locks.ts";
import { findAccount } from "./accounts.ts";
import { claimToScan, listOverdue } from "./due-legs.ts";
import { findDelayedByReading, listNext } from "./queues.ts";
import { insertSender } from "./senders.ts";

const PAST = new Date(Date.now() - 60_000);
const LONG_MS = 60_000;

async function aPoolWithAnAccount() {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  return pool;
}

function claimOf(pool: Pool) {
  return async (lockOwner: string) =>
    (await inTransaction(pool, (tx) => requestLocks(tx, [{ login: "1", lockOwner }]))).get("1");
}

async function set(pool: Pool, number: LegNumber, state: "SENDING" | "UNKNOWN" | "REVIEW"): Promise<void> {
  const [cameFrom, review] = state === "REVIEW" ? ["UNKNOWN", "candidate_deal"] : [undefined, undefined];
  await execute(
    pool,
    sql`update leg set state = ${state}, came_from = ${cameFrom}, review = ${review}, attempt = 1 where number = ${number}`,
  );
}

async function anAttempt(pool: Pool, number: LegNumber, permitMs: number): Promise<bigint> {
  const { epoch: senderEpoch } = await insertSender(pool);
  await execute(
    pool,
    sql`insert into attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
        values (${number}, 1, ${`P${number}`}, 'SENDING', ${senderEpoch}, database_identity(), 's/1',
                clock_timestamp() + ${permitMs} * interval '1 millisecond')`,
  );
  return senderEpoch;
}

test("an account lock waits for legs that may be open and for those queued before it, and for no later ones", async () => {
  const pool = await aPoolWithAnAccount();
  const claim = claimOf(pool);
  const before = await aWaitingLeg(pool, { key: "a" });
  const late = await aWaitingLeg(pool, { key: "b", sendBefore: PAST });
  await claim("saga");
  await aWaitingLeg(pool, { key: "c" });
  const unfinished = async () => (await claim("saga"))?.obstacle;

  expect(await unfinished()).toBe(before);
  for (const state of ["SENDING", "UNKNOWN", "REVIEW"] as const) {
    await set(pool, before, state);
    expect(await unfinished(), state).toBe(before);
  }
  await execute(
    pool,
    sql`update leg set state = 'REFUSED', refusal = 'absent', came_from = null, review = null where number <= ${late}`,
  );
  expect(await unfinished()).toBeUndefined();
});

test("only its owner claims, grants, withdraws or releases an account lock, and a released owner is recorded", async () => {
  const pool = await aPoolWithAnAccount();
  const accountLock = async () => (await findAccount(pool, "1"))?.accountLock;
  const earlier = await aWaitingLeg(pool, { key: "a" });
  const claim = claimOf(pool);

  expect(await claim("saga")).toMatchObject({ obstacle: earlier });
  expect(await claim("other-saga")).toBeUndefined();
  await withdrawRequest(pool, "1", "other-saga");
  await inTransaction(pool, (tx) => releaseLock(tx, { login: "1", lockOwner: "other-saga" }));
  expect(await accountLock()).toMatchObject({ lockOwner: "saga", isGranted: false });

  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent'`);
  expect(await claim("other-saga")).toBeUndefined();
  expect(await claim("saga")).toMatchObject({ obstacle: undefined });
  await withdrawRequest(pool, "1", "saga");
  expect(await accountLock()).toMatchObject({ lockOwner: "saga", isGranted: true });
  await inTransaction(pool, (tx) => releaseLock(tx, { login: "1", lockOwner: "saga" }));
  expect(await accountLock()).toBeUndefined();
  expect(await listReleased(pool, ["saga", "another"])).toEqual(new Set(["saga"]));
  expect(await claim("saga")).toBeUndefined();
});

const next = async (pool: Pool, limit = 10, logins?: readonly string[]) =>
  (await listNext(pool, { limit, ...(logins && { logins }) })).map(({ number }) => number);

test("of a login the first leg has its turn, unless one is under way, and each that occupies no login", async () => {
  const pool = await aPoolWithAnAccount();
  await aManagedLogin(pool, "2");
  const first = await aWaitingLeg(pool, { key: "a" });
  const second = await aWaitingLeg(pool, { key: "b" });
  const credits = [
    await aWaitingLeg(pool, { key: "c", login: "2", kind: "fee_credit", ordinal: 2 }),
    await aWaitingLeg(pool, { key: "d", login: "2", kind: "fee_credit", ordinal: 2 }),
  ];
  await aWaitingLeg(pool, { key: "e", login: "2", kind: "fee_credit", ordinal: 2, isReady: false });
  expect(await next(pool)).toEqual([first, ...credits]);
  expect(await next(pool, 10, ["1"])).toEqual([first]);
  for (const state of ["SENDING", "UNKNOWN", "REVIEW"] as const) {
    await set(pool, first, state);
    expect(await next(pool), state).toEqual(credits);
  }
  await execute(
    pool,
    sql`update leg set state = 'REFUSED', refusal = 'absent', came_from = null, review = null where number = ${first}`,
  );
  expect(await next(pool)).toEqual([second, ...credits]);
  await execute(pool, sql`update leg set next_scan_at = clock_timestamp() + interval '1 minute'`);
  expect(await next(pool)).toEqual([]);
});

test("an account lock admits its own legs and those before its claim, until it is granted, and a leg that is late ends without it", async () => {
  const pool = await aPoolWithAnAccount();
  const claim = claimOf(pool);
  const before = await aWaitingLeg(pool, { key: "a" });
  await claim("saga");
  const own = await aWaitingLeg(pool, { key: "b", lockOwner: "saga" });
  const late = await aWaitingLeg(pool, { key: "c", sendBefore: PAST });
  expect(await next(pool)).toEqual([before]);
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent' where number = ${before}`);
  await claim("saga");
  expect(await next(pool)).toEqual([own]);
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent' where number = ${own}`);
  expect(await next(pool)).toEqual([late]);
});

test.each([
  "undecided_from = now(), may_lack_deals = true",
  "stopped_reason = 'test'",
  "unshown_since = now(), archived_at = now()",
])("legs of an account that gets no permit, %s, have no turn, so that they displace no others", async (state) => {
  const pool = await aPoolWithAnAccount();
  await aManagedLogin(pool, "2");
  for (const key of ["a", "b", "c"]) await aWaitingLeg(pool, { key, kind: "fee_credit" });
  const expired = await aWaitingLeg(pool, { key: "e", sendBefore: PAST });
  const other = await aWaitingLeg(pool, { key: "d", login: "2", kind: "fee_credit" });
  await pool.query(`update account set ${state} where login = '1'`);

  expect(await next(pool, 3)).toEqual(state.includes("may_lack_deals") ? [other] : [expired, other]);
});

test("before a read of an account, a leg that the previous read delayed is sent first, unless another one is open", async () => {
  const pool = await aPoolWithAnAccount();
  const waiting = await aWaitingLeg(pool, { key: "a" });
  expect(await findDelayedByReading(pool, "1")).toBeUndefined();
  await execute(pool, sql`update account set read_at = clock_timestamp()`);
  expect(await findDelayedByReading(pool, "1")).toBe(waiting);

  const other = await aWaitingLeg(pool, { key: "b" });
  expect(await findDelayedByReading(pool, "1")).toBe(waiting);
  for (const state of ["SENDING", "REVIEW"] as const) {
    await set(pool, other, state);
    expect(await findDelayedByReading(pool, "1"), state).toBeUndefined();
  }
});

test("only the permit of the last attempt is overdue, once the permit and the time for an answer are over", async () => {
  const pool = await aPoolWithAnAccount();
  const number = await aWaitingLeg(pool, { key: "a" });
  await anAttempt(pool, number, 0);
  await set(pool, number, "SENDING");

  expect(await listOverdue(pool, LONG_MS, 10)).toEqual([]);
  expect(await listOverdue(pool, 0, 10)).toEqual([number]);
  await execute(pool, sql`update leg set attempt = 2`);
  expect(await listOverdue(pool, 0, 10)).toEqual([]);
});

test("a scan that is due is claimed once", async () => {
  const pool = await aPoolWithAnAccount();
  const number = await aWaitingLeg(pool, { key: "a" });
  await set(pool, number, "UNKNOWN");

  expect(await claimToScan(pool, LONG_MS, 10)).toEqual([number]);
  expect(await claimToScan(pool, LONG_MS, 10)).toEqual([]);
});

test("a process fences only its own attempts, and only when it can write no more of them", async () => {
  const pool = await aPoolWithAnAccount();
  const number = await aWaitingLeg(pool, { key: "a" });
  const epoch = await anAttempt(pool, number, 0);
  const fence = async (own: {
    readonly epoch?: bigint;
    readonly afterMs?: number;
    readonly inFlight?: readonly bigint[];
  }) => {
    await fenceOwnAttempts(pool, { epoch, afterMs: 0, inFlight: [], ...own });
    const rows = await many<{ is: boolean }>(pool, sql`select fenced_at is not null as is from attempt`);
    return rows.map(({ is }) => is);
  };

  expect(await fence({ epoch: epoch + 1n })).toEqual([false]);
  expect(await fence({ afterMs: LONG_MS })).toEqual([false]);
  expect(await fence({ inFlight: [number] })).toEqual([false]);
  expect(await fence({})).toEqual([true]);
});

test("a final state of an attempt does not change with later reports", async () => {
  const pool = await aPoolWithAnAccount();
  const number = await aWaitingLeg(pool, { key: "a" });
  await anAttempt(pool, number, 0);
  for (const state of ["UNKNOWN", "APPLIED", "ABSENT", "REFUSED"] as const) {
    await markAttempt(pool, number, 1, { state });
  }
  expect(await many(pool, sql`select state from attempt`)).toEqual([{ state: "APPLIED" }]);
});
