import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { requestLocks } from "../store/account-locks.ts";
import { aManagedLogin, aPermitHolder, aWaitingLeg, permitLeg } from "../testing/rows.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { PERMIT_MS } from "../domain/permit.ts";

const PAST = new Date(Date.now() - 60_000);
const WAIT = { kind: "wait" };
const OVER = { kind: "over" };

async function setUp() {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  const permitHolder = await aPermitHolder(pool);
  const grant = (number: LegNumber) => permitLeg(pool, number, permitHolder);
  return { pool, permitHolder, grant };
}

async function end(pool: Pool, number: LegNumber): Promise<void> {
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent' where number = ${number}`);
}

async function statuses(pool: Pool) {
  return await many(pool, sql`select state, refusal, attempt from leg order by number`);
}

test("a permit is the row of one attempt, and a second request gets none", async () => {
  const { pool, permitHolder, grant } = await setUp();
  const number = await aWaitingLeg(pool, { key: "a" });

  expect(await grant(number)).toMatchObject({
    kind: "permitted",
    permit: { leg: { number }, attempt: 1, grantedAtMs: permitHolder.grantedAtMs },
  });
  expect(await grant(number)).toEqual(OVER);

  const rows = await many<{ number: number; state: string; session: string; lasts: number }>(
    pool,
    sql`select number, state, session, (extract(epoch from permit_expires_at - granted_at) * 1000)::integer as lasts
        from attempt`,
  );
  expect(rows).toMatchObject([{ number: 1, state: "SENDING", session: "s/1" }]);
  // Both instants are the statement's own, the one a moment before the other.
  expect(Math.abs((rows[0]?.lasts ?? 0) - PERMIT_MS)).toBeLessThan(1_000);
});

test("a leg that has to wait for an earlier leg gets no permit", async () => {
  const { pool, grant } = await setUp();
  const number = await aWaitingLeg(pool, { key: "a", kind: "fee_credit", ordinal: 2, isReady: false });

  expect(await grant(number)).toEqual(OVER);
  expect(await statuses(pool)).toEqual([{ state: "INTENT", refusal: null, attempt: 0 }]);
});

test("a leg that pauses after an attempt waits until the pause is over", async () => {
  const { pool, grant } = await setUp();
  const number = await aWaitingLeg(pool, { key: "a", kind: "mirror", attempt: 1 });
  await execute(pool, sql`update leg set next_scan_at = clock_timestamp() + interval '1 minute'`);

  expect(await grant(number)).toEqual(WAIT);
});

test.each([
  ["a mirror", { kind: "mirror" }],
  ["a credit without a queue", { kind: "fee_credit", ordinal: 2 }],
  ["a deposit after its deadline, which may have been executed in time,", { kind: "deposit", sendBefore: PAST }],
  ["a leg of the saga that has the account lock", { kind: "withdrawal", lockOwner: "saga" }],
] as const)("while deals of an account may be lacking, %s waits", async (_what, own) => {
  const { pool, grant } = await setUp();
  await inTransaction(pool, (tx) => requestLocks(tx, [{ login: "1", lockOwner: "saga" }]));
  const number = await aWaitingLeg(pool, { key: "a", ...own });
  await execute(pool, sql`update account set undecided_from = now(), may_lack_deals = true`);

  expect(await grant(number)).toEqual(WAIT);
  expect(await statuses(pool)).toEqual([{ state: "INTENT", refusal: null, attempt: 0 }]);
});

test("a leg waits for an open leg of the login and for one queued before it", async () => {
  const { pool, grant } = await setUp();
  const first = await aWaitingLeg(pool, { key: "a" });
  const second = await aWaitingLeg(pool, { key: "b" });

  expect(await grant(second)).toEqual(WAIT);
  expect(await grant(first)).toMatchObject({ kind: "permitted" });
  expect(await grant(second)).toEqual(WAIT);
  await execute(
    pool,
    sql`update leg set state = 'REVIEW', came_from = 'UNKNOWN', review = 'candidate_deal' where number = ${first}`,
  );
  expect(await grant(second)).toEqual(WAIT);
  await execute(pool, sql`update leg set came_from = null, state = 'INTENT', review = null`);
  await end(pool, first);
  expect(await grant(second)).toMatchObject({ kind: "permitted" });
});

test.each([
  ["a leg that was never sent", { kind: "mirror", attempt: 0 }],
  ["a deposit, also after an attempt that was not sent", { kind: "deposit", attempt: 1 }],
] as const)("after the deadline %s is refused before anything is sent", async (_what, own) => {
  const { pool, grant } = await setUp();
  const number = await aWaitingLeg(pool, { key: "a", sendBefore: PAST, ...own });

  expect(await grant(number)).toEqual(OVER);
  expect(await statuses(pool)).toEqual([{ state: "REFUSED", refusal: "expired", attempt: own.attempt }]);
});

test.each([
  ["an internal leg that was attempted", { kind: "mirror", attempt: 1 }],
  ["a leg after an applied one", { kind: "fee_credit", ordinal: 2, attempt: 0 }],
] as const)("after the deadline %s continues", async (_what, own) => {
  const { pool, grant } = await setUp();
  const number = await aWaitingLeg(pool, { key: "a", sendBefore: PAST, ...own });

  expect(await grant(number)).toMatchObject({ kind: "permitted", permit: { attempt: own.attempt + 1 } });
});
