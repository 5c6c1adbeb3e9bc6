import { execute, type Fragment, fragment, matchesRow, maybeOne, type Queryable, sql } from "./query.ts";
import type { Transaction } from "./transaction.ts";

/** The right to one role of a service until it expires. Each new owner gets a higher fence. */
export type Lease = { readonly name: string; readonly owner: string; readonly fence: bigint };

export type LeaseRequest = { readonly name: string; readonly owner: string; readonly ttlMs: number };

/**
 * Undefined while another process has the lease. The clock is the database's, which all processes share. A request
 * for a lease that is taken writes nothing; of several requests for an expired lease, the unique name lets one succeed.
 */
export async function acquireLease(db: Queryable, request: LeaseRequest): Promise<Lease | undefined> {
  const { name, owner, ttlMs } = request;
  const row = await maybeOne<{ fence: bigint }>(
    db,
    sql`insert into lease (name, owner, fence, expires_at)
        select ${name}, ${owner}, 1, clock_timestamp() + ${ttlMs} * interval '1 millisecond'
        where not exists (select from lease where name = ${name} and expires_at > clock_timestamp())
        on conflict (name) do update
        set owner = excluded.owner, fence = lease.fence + 1, expires_at = excluded.expires_at
        where lease.expires_at <= clock_timestamp()
        returning fence`,
  );
  return row && { name, owner, fence: row.fence };
}

/** False when another process has acquired the lease. An expired lease that no process has acquired is renewed. */
export async function renewLease(db: Queryable, lease: Lease, ttlMs: number): Promise<boolean> {
  return await matchesRow(db, sql`${renewal(lease, ttlMs)}`);
}

/** The same as a part of another statement: it has a row when the lease is renewed. */
export function renewal({ name, fence }: Lease, ttlMs: number): Fragment {
  return fragment`
    update lease
    set expires_at = clock_timestamp() + ${ttlMs} * interval '1 millisecond'
    where name = ${name} and fence = ${fence}
    returning fence`;
}

/** That of a process without the lease. */
export const NO_RENEWAL = fragment`select where false`;

/** Lets the next owner begin at once. The row stays, because fences must never repeat. */
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
