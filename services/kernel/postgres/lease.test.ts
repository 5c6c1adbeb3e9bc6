import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { kernelDatabase } from "../testing/database.ts";
import { holdsLease, type Lease, type LeaseCandidate, leaseCandidate } from "./lease.ts";
import { execute, type Fragment, matchesRow, one, sql } from "./query.ts";
import { inTransaction, type Transaction } from "./transaction.ts";

const { pool } = await kernelDatabase();

const LONG_MS = 60_000;

/** Asks the database each time. */
const candidate = (name: string): LeaseCandidate =>
  leaseCandidate(pool, { name, ttlMs: LONG_MS, renewMs: 0, pollMs: 0 });
const expire = (name: string) =>
  execute(pool, sql`update lease set expires_at = clock_timestamp() where name = ${name}`);
const isHeld = (tx: Transaction, lease: Lease) => matchesRow(tx, sql`select where ${holdsLease(lease)}`);

async function acquired({ renewOrAcquire }: LeaseCandidate): Promise<Lease> {
  const lease = await renewOrAcquire();
  if (lease === undefined) throw new Error("not acquired");
  return lease;
}

test("of many candidates at the same time one acquires the lease", async () => {
  const leases = await Promise.all(Array.from({ length: 5 }, () => candidate("race").renewOrAcquire()));

  expect(leases.filter((lease) => lease !== undefined)).toEqual([{ name: "race", fence: 1n }]);
});

test("a lease is held until it expires, its next holder has a higher fence, and the former one has lost it", async () => {
  const [first, second] = [candidate("role"), candidate("role")];
  const lease = await acquired(first);
  expect(await second.renewOrAcquire()).toBeUndefined();

  await expire("role");
  expect(await first.renewOrAcquire()).toEqual(lease);
  expect(await second.renewOrAcquire()).toBeUndefined();

  await expire("role");
  expect(await second.renewOrAcquire()).toEqual({ name: "role", fence: 2n });
  expect(await first.renewOrAcquire()).toBeUndefined();
  expect(await inTransaction(pool, (tx) => isHeld(tx, lease))).toBe(false);
  // A former holder cannot release it.
  await first[Symbol.asyncDispose]();
  expect(await candidate("role").renewOrAcquire()).toBeUndefined();
});

test("a released lease is free at once, and the process that has it shows it", async () => {
  const shown = async () => (await metricValues("pamm_lease_held"))["free"];
  const [first, second] = [candidate("free"), candidate("free")];
  expect(await shown()).toBe(0);
  await acquired(first);
  expect(await shown()).toBe(1);
  await first[Symbol.asyncDispose]();
  expect(await shown()).toBe(0);

  expect(await second.renewOrAcquire()).toMatchObject({ fence: 2n });
});

test("no other process acquires the lease while a transaction of its holder has checked it", async () => {
  const [first, second] = [candidate("checked"), candidate("checked")];
  const lease = await acquired(first);
  await expire("checked");

  await inTransaction(pool, async (tx) => {
    expect(await isHeld(tx, lease)).toBe(true);
    await expect(second.renewOrAcquire()).rejects.toThrow("lock timeout");
  });

  expect(await second.renewOrAcquire()).toMatchObject({ fence: 2n });
});

test("a lease is renewed within another statement, and is asked for at once when that has not renewed it", async () => {
  await using first = leaseCandidate(pool, { name: "within", ttlMs: LONG_MS, renewMs: LONG_MS, pollMs: LONG_MS });
  await using second = candidate("within");
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
