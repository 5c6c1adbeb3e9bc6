import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { startLoop } from "../loop.ts";
import { isTransient } from "../postgres/failure.ts";
import { acquireLease, releaseLease, renewLease } from "../postgres/lease.ts";
import type { Lease } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import type { FeedLog } from "./event.ts";
import { hasUnnumbered, listHeads, numberEntries, raiseIds } from "./outbox.ts";
import { publishEntries, PublishFailed } from "./publish.ts";
import type { Publish } from "./publish.ts";
import { onTold } from "./wake.ts";

export type RelayOptions = {
  readonly service: string;
  readonly pool: Pool;
  /** The feeds that the service owns. */
  readonly feeds: readonly string[];
  readonly publish: Publish;
  /** Tells readers how far a feed is. May get lost, must not throw. */
  readonly nudge: (feed: string, lastNumber: bigint) => void;
  readonly log: FeedLog;
};

export type Relay = AsyncDisposable & {
  readonly wake: () => void;
  /** Rejects when the relay cannot go on; the service must stop then. */
  readonly done: Promise<void>;
  /** Whether this process is the one that numbers and publishes. */
  readonly isHolder: () => boolean;
};

const LEASE_NAME = "feed-relay";
/** How long the feeds of a service stand still after its relay was killed. */
const LEASE_MS = 2_000;
const RENEW_MS = 500;
const POLL_MS = 250;
const HEARTBEAT_MS = 1_000;
const NUMBERING_BATCH = 500;

/** Numbers what was told, after commit, and passes it on. Any number of processes may start one; one works at a time. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { service, pool, feeds, nudge, publish, log } = options;
  await raiseIds(pool);
  const role = leaseKeeper(pool);
  let heartbeatAt = Number.NEGATIVE_INFINITY;

  async function number(): Promise<boolean> {
    const lease = await role.keep();
    if (lease === undefined) return false;
    const heads = (await hasUnnumbered(pool)) ? await numberEntries(pool, lease, NUMBERING_BATCH) : [];
    for (const { feed, lastNumber } of heads) nudge(feed, lastNumber);
    if (heads.length > 0) publishing.wake();
    if (performance.now() - heartbeatAt >= HEARTBEAT_MS) {
      heartbeatAt = performance.now();
      for (const { feed, lastNumber } of await listHeads(pool, feeds)) nudge(feed, lastNumber);
    }
    return heads.length > 0;
  }

  const onFailure = (error: unknown): void => {
    if (!(error instanceof PublishFailed) && !isTransient(error)) throw error;
    log.warn({ err: error }, "the relay waits for its database or broker");
  };
  const numbering = startLoop({ turn: number, pollMs: POLL_MS, onFailure });
  const publishing = startLoop({
    turn: async () => role.isHolder() && (await publishEntries(pool, service, publish)),
    pollMs: POLL_MS,
    onFailure,
  });
  const told = onTold(numbering.wake);

  return {
    wake: numbering.wake,
    done: Promise.all([numbering.done, publishing.done]).then(() => undefined),
    isHolder: role.isHolder,
    async [Symbol.asyncDispose]() {
      told[Symbol.dispose]();
      await Promise.all([numbering[Symbol.asyncDispose](), publishing[Symbol.asyncDispose]()]);
      await role.release();
    },
  };
}

/** Renews in time and takes over when it can. What it says may be out of date; the fence in each write decides. */
function leaseKeeper(pool: Pool) {
  const holder = `${hostname()}:${process.pid}:${randomUUID()}`;
  let lease: Lease | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    isHolder: () => lease !== undefined,
    async keep(): Promise<Lease | undefined> {
      const now = performance.now();
      if (now - askedAt < (lease === undefined ? POLL_MS : RENEW_MS)) return lease;
      const isStillOurs = lease !== undefined && (await renewLease(pool, lease, LEASE_MS));
      if (!isStillOurs) lease = await acquireLease(pool, { name: LEASE_NAME, holder, ttlMs: LEASE_MS });
      askedAt = now;
      return lease;
    },
    async release(): Promise<void> {
      if (lease === undefined) return;
      // Without it the next relay begins when the lease runs out.
      await releaseLease(pool, lease).catch(() => undefined);
    },
  };
}
