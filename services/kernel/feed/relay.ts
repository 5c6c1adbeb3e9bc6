import { createBell } from "../bell.ts";
import { runJob } from "../job.ts";
import type { Log } from "../log.ts";
import { isTransient } from "../postgres/failure.ts";
import { leaseKeeper } from "../postgres/lease-keeper.ts";
import type { LeaseKeeper } from "../postgres/lease-keeper.ts";
import type { Pool } from "../postgres/pool.ts";
import { showOutbox } from "./metrics.ts";
import { hasUnnumbered, listHeads, numberEntries, raiseIds, readOutboxAge } from "./outbox.ts";
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
  readonly log: Log;
};

export type Relay = AsyncDisposable & {
  readonly wake: () => void;
  /** Rejects when the relay cannot go on; the service must stop then. Never resolves. */
  readonly fault: Promise<never>;
  /** Whether this process is the one that numbers and publishes. */
  readonly isHolder: () => boolean;
};

/** Its readers stand still this long after a relay was killed. */
const LEASE = { name: "feed-relay", ttlMs: 2_000, renewMs: 500, pollMs: 250 };
const POLL_MS = 250;
/** A database or broker that is back is found within this time. */
const LONGEST_RETRY_MS = 5_000;
const HEARTBEAT_MS = 1_000;
const NUMBERING_BATCH = 500;

/** Numbers what was told, after commit, and passes it on. Any number of processes may start one; one works at a time. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { service, pool, publish, log } = options;
  await raiseIds(pool);
  const role = leaseKeeper(pool, LEASE);
  const fault = Promise.withResolvers<never>();
  const [toNumber, toPublish] = [createBell(), createBell()];
  const number = numberer(options, role, toPublish.ring);

  const often = { everyMs: POLL_MS, longestRetryMs: LONGEST_RETRY_MS, log };
  const numbering = runJob({ ...often, name: "number feeds", wake: toNumber, work: watched(number, fault.reject) });
  const publishNext = async () => role.isHolder() && (await publishEntries(pool, service, publish));
  const publishing = runJob({
    ...often,
    name: "publish feeds",
    wake: toPublish,
    work: watched(publishNext, fault.reject),
  });
  const told = onTold(toNumber.ring);

  return {
    wake: toNumber.ring,
    fault: fault.promise,
    isHolder: role.isHolder,
    async [Symbol.asyncDispose]() {
      told[Symbol.dispose]();
      await Promise.all([numbering[Symbol.asyncDispose](), publishing[Symbol.asyncDispose]()]);
      await role[Symbol.asyncDispose]();
    },
  };
}

function numberer({ pool, feeds, nudge }: RelayOptions, role: LeaseKeeper, wakePublisher: () => void) {
  let heartbeatAt = 0;
  let shownAt = 0;
  return async (): Promise<boolean> => {
    // Also by a process that does not number: it is the one that is there when the other one is gone.
    if (performance.now() >= shownAt) {
      shownAt = performance.now() + HEARTBEAT_MS;
      showOutbox(await readOutboxAge(pool));
    }
    const lease = await role.keep();
    if (lease === undefined) return false;
    const heads = (await hasUnnumbered(pool)) ? await numberEntries(pool, lease, NUMBERING_BATCH) : [];
    for (const { feed, lastNumber } of heads) nudge(feed, lastNumber);
    if (heads.length > 0) wakePublisher();
    if (performance.now() >= heartbeatAt) {
      heartbeatAt = performance.now() + HEARTBEAT_MS;
      for (const { feed, lastNumber } of await listHeads(pool, feeds)) nudge(feed, lastNumber);
    }
    return heads.length > 0;
  };
}

/** A database or broker that is away is waited for; anything else is a defect that the service must not live with. */
function watched(work: () => Promise<boolean>, onFault: (error: unknown) => void): () => Promise<boolean> {
  return async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PublishFailed) && !isTransient(error)) onFault(error);
      throw error;
    }
  };
}
