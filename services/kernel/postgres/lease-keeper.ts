import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { acquireLease, type Lease, releaseLease, renewLease } from "./lease.ts";
import type { Pool } from "./pool.ts";

export type LeaseKeeper = AsyncDisposable & {
  /** What was known last. It may be out of date; the fence that each write checks decides. */
  readonly isLockOwner: () => boolean;
  /** Renews or takes over when it is time. Undefined while another process holds the lease. */
  readonly keep: () => Promise<Lease | undefined>;
};

export type LeaseKeeperOptions = {
  readonly name: string;
  /** How long the role is played by nobody after its holder was killed. */
  readonly ttlMs: number;
  readonly renewMs: number;
  /** How often somebody else's lease is looked at. */
  readonly pollMs: number;
};

/** One candidate for a role of the service. Disposal lets the next holder begin at once. */
export function leaseKeeper(pool: Pool, { name, ttlMs, renewMs, pollMs }: LeaseKeeperOptions): LeaseKeeper {
  const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
  let lease: Lease | undefined;
  let askAt = 0;

  return {
    isLockOwner: () => lease !== undefined,
    async keep() {
      const now = performance.now();
      if (now < askAt) return lease;
      const isStillOurs = lease !== undefined && (await renewLease(pool, lease, ttlMs));
      if (!isStillOurs) lease = await acquireLease(pool, { name, owner, ttlMs });
      askAt = now + (lease === undefined ? pollMs : renewMs);
      return lease;
    },
    async [Symbol.asyncDispose]() {
      if (lease === undefined) return;
      // When the database is gone, the lease runs out by itself.
      await releaseLease(pool, lease).catch(() => undefined);
    },
  };
}
