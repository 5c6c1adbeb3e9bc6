import { expect, test } from "vitest";
import { leaseCandidate, acquireLease, lockLease, releaseLease, renewLease } from "./lease.ts";
import { execute, type Fragment, one, sql } from "./query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { inTransaction } from "./transaction.ts";

const { pool } = await kernelDatabase();

const LONG_MS = 60_000;

const acquire = (name: string, holder: string, ttlMs = LONG_MS) => acquireLease(pool, { name, holder, ttlMs });
const expire = (name: string) =>
  execute(pool, sql`update lease set expires_at = clock_timestamp() where name = ${name}`);
const lock = (lease: Parameters<typeof lockLease>[1]) => inTransaction(pool, (tx) => lockLease(tx, lease));

test("of many simultaneous requests one acquires the lease", async () => {
  const answers = await Promise.all(["a", "b", "c", "d", "e"].map((holder) => acquire("race", holder)));

  expect(answers.filter((lease) => lease !== undefined)).toHaveLength(1);
});

test("a lease is held until it expires, and its next holder has a higher fence", async () => {
  const first = await acquire("role", "a");
  expect(first).toEqual({ name: "role", holder: "a", fence: 1n });
  expect(await acquire("role", "b")).toBeUndefined();

  await expire("role");

  expect(await acquire("role", "b")).toEqual({ name: "role", holder: "b", fence: 2n });
});

test("an expired lease is renewed when no other process has acquired it, and lost otherwise", async () => {
  const first = await acquire("late", "a");
  if (first === undefined) throw new Error("not acquired");
  await expire("late");
  expect(await renewLease(pool, first, LONG_MS)).toBe(true);
  expect(await acquire("late", "b")).toBeUndefined();

  await expire("late");
  await acquire("late", "b");

  expect(await renewLease(pool, first, LONG_MS)).toBe(false);
  expect(await lock(first)).toBe(false);
});

test("a released lease is free at once, and a former holder cannot release it", async () => {
  const first = await acquire("free", "a");
  if (first === undefined) throw new Error("not acquired");
  await releaseLease(pool, first);
  const second = await acquire("free", "b");
  expect(second).toMatchObject({ holder: "b", fence: 2n });

  await releaseLease(pool, first);

  expect(await acquire("free", "c")).toBeUndefined();
});

test("no other process acquires the lease while a transaction of its holder has checked it", async () => {
  const first = await acquire("checked", "a");
  if (first === undefined) throw new Error("not acquired");
  await expire("checked");

  await inTransaction(pool, async (tx) => {
    expect(await lockLease(tx, first)).toBe(true);
    await expect(acquire("checked", "b")).rejects.toThrow("lock timeout");
  });

  expect(await acquire("checked", "b")).toMatchObject({ fence: 2n });
});

test("of two candidates one has the lease, and the other acquires it after the release", async () => {
  const options = { name: "candidates", ttlMs: LONG_MS, renewMs: 0, pollMs: 0 };
  const first = leaseCandidate(pool, options);
  await using second = leaseCandidate(pool, options);

  expect(await first.renewOrAcquire()).toMatchObject({ fence: 1n });
  expect(await second.renewOrAcquire()).toBeUndefined();
  expect([first.hasLease(), second.hasLease()]).toEqual([true, false]);
  await first[Symbol.asyncDispose]();
  expect(await second.renewOrAcquire()).toMatchObject({ fence: 2n });
});

test("a lease is renewed within another statement, and is asked for at once when that has not renewed it", async () => {
  const options = { name: "within", ttlMs: LONG_MS, renewMs: LONG_MS, pollMs: LONG_MS };
  await using first = leaseCandidate(pool, options);
  await using second = leaseCandidate(pool, { ...options, pollMs: 0 });
  const ask = (renewed: Fragment) =>
    one<{ isRenewed: boolean }>(
      pool,
      sql`with renewed as (${renewed}) select exists (select from renewed) as "isRenewed"`,
    );
  expect(await first.renewWithin(ask)).toEqual({ isRenewed: false });
  expect(await first.renewOrAcquire()).toMatchObject({ fence: 1n });

  await expire("within");
  expect(await first.renewWithin(ask)).toEqual({ isRenewed: true });
  expect(await second.renewOrAcquire()).toBeUndefined();

  await expire("within");
  expect(await second.renewOrAcquire()).toMatchObject({ fence: 2n });
  expect(await first.renewWithin(ask)).toEqual({ isRenewed: false });
  expect(await first.renewOrAcquire()).toBeUndefined();
});
