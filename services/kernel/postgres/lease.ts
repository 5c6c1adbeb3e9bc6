import { execute, type Fragment, fragment, matchesRow, maybeOne, type Queryable, sql } from "./query.ts";
import type { Transaction } from "./transaction.ts";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Gauge } from "prom-client";
import type { Pool } from "./pool.ts";

/** The right to one role of a service until it expires. Each new holder gets a higher fence. */
export type Lease = { readonly name: string; readonly holder: string; readonly fence: bigint };

export type LeaseRequest = { readonly name: string; readonly holder: string; readonly ttlMs: number };

/**
 * Undefined while another process has the lease. The clock is the database's, which all processes share. A request
 * for a lease that is taken writes nothing; of several requests for an expired lease, the unique name lets one succeed.
 */
export async function acquireLease(db: Queryable, request: LeaseRequest): Promise<Lease | undefined> {
  const { name, holder, ttlMs } = request;
  const row = await maybeOne<{ fence: bigint }>(
    db,
    sql`insert into lease (name, holder, fence, expires_at)
        select ${name}, ${holder}, 1, clock_timestamp() + ${ttlMs} * interval '1 millisecond'
        where not exists (select from lease where name = ${name} and expires_at > clock_timestamp())
        on conflict (name) do update
        set holder = excluded.holder, fence = lease.fence + 1, expires_at = excluded.expires_at
        where lease.expires_at <= clock_timestamp()
        returning fence`,
  );
  return row && { name, holder, fence: row.fence };
}

/** False when another process has acquired the lease. An expired lease that no process has acquired is renewed. */
export async function renewLease(db: Queryable, lease: Lease, ttlMs: number): Promise<boolean> {
  return await matchesRow(db, sql`${renewal(lease, ttlMs)}`);
}

/** The same as a part of another statement: it has a row when the lease is renewed. */
function renewal({ name, fence }: Lease, ttlMs: number): Fragment {
  return fragment`
    update lease
    set expires_at = clock_timestamp() + ${ttlMs} * interval '1 millisecond'
    where name = ${name} and fence = ${fence}
    returning fence`;
}

/** That of a process without the lease. */
export const NO_RENEWAL = fragment`select where false`;

/** Lets the next holder begin at once. The row stays, because fences must never repeat. */
export async function releaseLease(db: Queryable, { name, fence }: Lease): Promise<void> {
  await execute(
    db,
    sql`update lease
        set expires_at = '-infinity'
        where name = ${name} and fence = ${fence}`,
  );
}

/** False when the lease is lost. When true, no other process can acquire it before this transaction ends. */
export async function lockLease(tx: Transaction, lease: Lease): Promise<boolean> {
  return await matchesRow(tx, sql`select where ${holdsLease(lease)}`);
}

/** Condition: the lease is not lost, and no other process can acquire it before the transaction ends. */
export function holdsLease({ name, fence }: Lease): Fragment {
  return fragment`exists (select from lease where name = ${name} and fence = ${fence} for share)`;
}

export type LeaseCandidate = AsyncDisposable & {
  /** The last known state. It may be out of date; the fence that each write checks decides. */
  readonly hasLease: () => boolean;
  /** Renews or acquires the lease when it is time. Undefined while another process has it. */
  readonly renewOrAcquire: () => Promise<Lease | undefined>;
  /** Renews the lease within a statement that is made anyway; one that does not renew it lets the next `renewOrAcquire` ask at once. */
  readonly renewWithin: <Made extends { readonly isRenewed: boolean }>(
    make: (renewed: Fragment) => Promise<Made>,
  ) => Promise<Made>;
};

const held = new Gauge({
  name: "pamm_lease_held",
  help: "1 while this process has the lease: one replica of the service has it, the others have 0.",
  labelNames: ["lease"],
});

type LeaseCandidateOptions = {
  readonly name: string;
  /** After the holder was killed, the role is vacant for at most this time. */
  readonly ttlMs: number;
  readonly renewMs: number;
  /** How often a process without the lease tries to acquire it. */
  readonly pollMs: number;
};

/** One candidate for a role of the service. Disposal lets the next holder begin at once. */
export function leaseCandidate(pool: Pool, { name, ttlMs, renewMs, pollMs }: LeaseCandidateOptions): LeaseCandidate {
  const holder = `${hostname()}:${process.pid}:${randomUUID()}`;
  let lease: Lease | undefined;
  let renewAt = 0;
  held.set({ lease: name }, 0);

  return {
    hasLease: () => lease !== undefined,
    async renewOrAcquire() {
      const now = performance.now();
      if (now < renewAt) return lease;
      const isRenewed = lease !== undefined && (await renewLease(pool, lease, ttlMs));
      if (!isRenewed) lease = await acquireLease(pool, { name, holder, ttlMs });
      held.set({ lease: name }, lease === undefined ? 0 : 1);
      renewAt = now + (lease === undefined ? pollMs : renewMs);
      return lease;
    },
    async renewWithin(make) {
      const now = performance.now();
      const made = await make(lease === undefined ? NO_RENEWAL : renewal(lease, ttlMs));
      renewAt = made.isRenewed ? now + renewMs : 0;
      return made;
    },
    async [Symbol.asyncDispose]() {
      held.set({ lease: name }, 0);
      if (lease === undefined) return;
      // Without a database the lease expires by itself.
      await releaseLease(pool, lease).catch(() => undefined);
    },
  };
}
