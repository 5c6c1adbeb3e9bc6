import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { markWaiting, startTries } from "./departure-queue.ts";
import { type Decided, getDeparture, insertDepartures, markDecided, markRefused, markReleased } from "./departures.ts";

const REFUSED = { refusal: '{"code":"account_busy"}', at: new Date() };
const NUMBERS = { before: 500n, pending: 0n, available: 500n, effective: 100n };
const OUTSIDE = {
  subscriptionId: null,
  masterLogin: null,
  allocationNumber: null,
  leftStatus: null,
};

/** The first try of a withdrawal that may wait until its Master is flat. */
async function begin(db: Queryable, operationId: string) {
  const none = { comment: "", requestId: "", subscriptionId: null, masterLogin: null };
  const own = { operationId, investorLogin: "9001", requested: 100n, ...none };
  const until = new Date(Date.now() + 60_000);
  const times = { at: new Date(), deadlineAt: until, queueUntil: until, recoverInMs: 60_000 };
  await insertDepartures(db, [{ kind: "WITHDRAWAL", ...own, ...times }]);
  return { operationId, state: "WANTED" } as const;
}

async function decide(db: Parameters<typeof inTransaction>[0], operationId: string, number: number): Promise<boolean> {
  const decided: Decided = { operationId, try: number, ...NUMBERS, ...OUTSIDE };
  return (await inTransaction(db, (tx) => markDecided(tx, [decided], new Date()))).has(operationId);
}

async function startDue(db: Parameters<typeof inTransaction>[0]): Promise<string[]> {
  await execute(db, sql`update departure set ready_at = clock_timestamp(), next_try_at = clock_timestamp()`);
  return (await inTransaction(db, (tx) => startTries(tx, 10))).map(({ operationId }) => operationId);
}

async function release(db: Queryable, operationId: string): Promise<void> {
  const { lockOwner } = await getDeparture(db, operationId);
  await markReleased(db, operationId, lockOwner ?? "");
}

test("what is decided, and a later try, are not ended by the try before", async () => {
  const { pool } = await testDatabase("subscription");
  const decided = await begin(pool, "decided");
  expect(await decide(pool, "decided", 1)).toBe(true);
  expect(await markRefused(pool, { ...decided, try: 1 }, REFUSED)).toBe(false);
  expect(await markWaiting(pool, { ...decided, try: 1 }, "account_busy")).toBe(false);

  const later = await begin(pool, "later");
  await markWaiting(pool, { ...later, try: 1 }, "account_busy");
  await release(pool, "later");
  expect(await startDue(pool)).toEqual(["later"]);
  expect(await markRefused(pool, { ...later, try: 1 }, REFUSED)).toBe(false);
  expect(await markWaiting(pool, { ...later, try: 1 }, "account_busy")).toBe(false);
  expect(await markWaiting(pool, { ...later, try: 2 }, "account_busy")).toBe(true);
});
