import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Gauge } from "prom-client";
import { acquireLease, type Lease, NO_RENEWAL, releaseLease, renewal, renewLease } from "./lease.ts";
import type { Pool } from "./pool.ts";
import type { Fragment } from "./query.ts";

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

export type LeaseCandidateOptions = {
  readonly name: string;
  /** After the owner was killed, the role is vacant for at most this time. */
  readonly ttlMs: number;
  readonly renewMs: number;
  /** How often a process without the lease tries to acquire it. */
  readonly pollMs: number;
};

/** One candidate for a role of the service. Disposal lets the next owner begin at once. */
export function leaseCandidate(pool: Pool, { name, ttlMs, renewMs, pollMs }: LeaseCandidateOptions): LeaseCandidate {
  const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
  let lease: Lease | undefined;
  let renewAt = 0;
  held.set({ lease: name }, 0);

  return {
    hasLease: () => lease !== undefined,
    async renewOrAcquire() {
      const now = performance.now();
      if (now < renewAt) return lease;
      const isRenewed = lease !== undefined && (await renewLease(pool, lease, ttlMs));
      if (!isRenewed) lease = await acquireLease(pool, { name, owner, ttlMs });
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
