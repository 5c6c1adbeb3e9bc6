import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Gauge } from "prom-client";
import type { Pool } from "./pool.ts";
import { execute, type Fragment, fragment, maybeOne, sql } from "./query.ts";

/** The right to one role of a service until it expires. Each new holder gets a higher fence. */
export type Lease = { readonly name: string; readonly fence: bigint };

/** That of a process without the lease. */
export const NO_RENEWAL = fragment`select where false`;

/** Condition: the lease is not lost, and no other process can acquire it before the transaction ends. */
export function holdsLease({ name, fence }: Lease): Fragment {
  return fragment`exists (select from lease where name = ${name} and fence = ${fence} for share)`;
}

export type LeaseCandidate = AsyncDisposable & {
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
  const expiry = fragment`clock_timestamp() + ${ttlMs} * interval '1 millisecond'`;
  let lease: Lease | undefined;
  let renewAt = 0;
  held.set({ lease: name }, 0);

  return {
    /**
     * The clock is the database's, which all processes share. A request for a lease that another process has writes nothing; of several requests
     * for an expired lease, the unique name lets one succeed. A holder whose lease has expired renews it when no other process has acquired it.
     */
    async renewOrAcquire() {
      const now = performance.now();
      if (now < renewAt) return lease;
      const row = await maybeOne<{ fence: bigint }>(
        pool,
        sql`insert into lease (name, holder, fence, expires_at)
            select ${name}, ${holder}, 1, ${expiry}
            where not exists (
              select from lease where name = ${name} and holder <> ${holder} and expires_at > clock_timestamp()
            )
            on conflict (name) do update
            set holder = excluded.holder, expires_at = excluded.expires_at,
                fence = case when lease.holder = excluded.holder then lease.fence else lease.fence + 1 end
            where lease.holder = excluded.holder or lease.expires_at <= clock_timestamp()
            returning fence`,
      );
      lease = row && { name, fence: row.fence };
      held.set({ lease: name }, lease === undefined ? 0 : 1);
      renewAt = now + (lease === undefined ? pollMs : renewMs);
      return lease;
    },
    async renewWithin(make) {
      const now = performance.now();
      const renewal = fragment`
        update lease set expires_at = ${expiry} where name = ${name} and holder = ${holder} returning fence`;
      const made = await make(lease === undefined ? NO_RENEWAL : renewal);
      renewAt = made.isRenewed ? now + renewMs : 0;
      return made;
    },
    async [Symbol.asyncDispose]() {
      held.set({ lease: name }, 0);
      if (lease === undefined) return;
      // The row stays, because fences must never repeat. Without a database the lease expires by itself.
      const release = sql`update lease set expires_at = '-infinity' where name = ${name} and holder = ${holder}`;
      await execute(pool, release).catch(() => undefined);
    },
  };
}
