import { createWakeSignal } from "../wake-signal.ts";
import { runJob } from "../job.ts";
import { HOUR_MS } from "../duration.ts";
import type { Log } from "../log.ts";
import { isTransient } from "../postgres/failure.ts";
import { leaseCandidate, type LeaseCandidate } from "../postgres/lease-candidate.ts";
import type { Pool } from "../postgres/pool.ts";
import { MAX_FEED_RETRY_MS } from "../retry.ts";
import { type Forward, forwardEntries, ForwardFailed } from "./forward.ts";
import { showOutbox } from "./metrics.ts";
import { hasUnsequenced, raiseIds, readOutboxAge, sequenceEntries } from "./outbox.ts";
import { outboxSignal } from "./outbox-signal.ts";
import { deleteOldEntries } from "./retention.ts";

export type RelayOptions = {
  readonly service: string;
  readonly pool: Pool;
  /** The feeds that the service owns. */
  readonly feeds: readonly string[];
  /** Sends an entry to JetStream. */
  readonly forward: Forward;
  /** Sends a wake-up signal to the readers of a feed. The signal may be lost; the function must not throw. */
  readonly signal: (feed: string, lastNumber: bigint) => void;
  readonly log: Log;
};

export type Relay = AsyncDisposable & {
  /** Rejects when the relay cannot go on; the service must stop then. Never resolves. */
  readonly fault: Promise<never>;
  /** Whether this process sequences and forwards. */
  readonly hasLease: () => boolean;
};

/** A relay that was killed delays its readers by at most `ttlMs`. */
const LEASE = { name: "feed-relay", ttlMs: 2_000, renewMs: 500, pollMs: 250 };
/** The longest delay of an event whose wake-up signal was lost. */
const POLL_MS = 250;
/** Each reading of the ages is a query; Prometheus usually reads the metrics less often. */
const SHOW_EVERY_MS = 1_000;
/** One statement, which keeps the row of the lease locked: another relay cannot take over before it ends. */
const SEQUENCE_BATCH = 500;
const DELETE_EVERY_MS = HOUR_MS;

/** Sequences committed events and forwards them. Each replica starts a relay; only the owner of the lease sequences. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { service, pool, feeds, forward, log } = options;
  await raiseIds(pool);
  const role = leaseCandidate(pool, LEASE);
  const fault = Promise.withResolvers<never>();
  const toForward = createWakeSignal();
  const sequenceNext = sequencer(options, role, toForward.notify);
  const forwardNext = async () => role.hasLease() && (await forwardEntries(pool, service, forward));

  const often = { everyMs: POLL_MS, maxRetryMs: MAX_FEED_RETRY_MS, log };
  const jobs = [
    runJob({ ...often, name: "sequence feeds", wake: outboxSignal(pool), work: watched(sequenceNext, fault.reject) }),
    runJob({ ...often, name: "forward feeds", wake: toForward, work: watched(forwardNext, fault.reject) }),
    runJob({
      name: "delete old feed entries",
      everyMs: DELETE_EVERY_MS,
      work: () => deleteOldEntries(pool, feeds),
      log,
    }),
  ];

  return {
    fault: fault.promise,
    hasLease: role.hasLease,
    async [Symbol.asyncDispose]() {
      await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
      await role[Symbol.asyncDispose]();
    },
  };
}

function sequencer({ pool, signal }: RelayOptions, role: LeaseCandidate, wakeForwarder: () => void) {
  let showAt = 0;
  return async (): Promise<boolean> => {
    // A process without the lease shows the ages too, so that the metrics exist when the owner of the lease stops.
    if (performance.now() >= showAt) {
      showAt = performance.now() + SHOW_EVERY_MS;
      showOutbox(await readOutboxAge(pool));
    }
    const lease = await role.renewOrAcquire();
    if (lease === undefined) return false;
    const heads = (await hasUnsequenced(pool)) ? await sequenceEntries(pool, lease, SEQUENCE_BATCH) : [];
    for (const { feed, lastNumber } of heads) signal(feed, lastNumber);
    if (heads.length > 0) wakeForwarder();
    return heads.length > 0;
  };
}

/** An unavailable database or broker is retried; any other error is a defect, and the service must stop. */
function watched(work: () => Promise<boolean>, onFault: (error: unknown) => void): () => Promise<boolean> {
  return async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ForwardFailed) && !isTransient(error)) onFault(error);
      throw error;
    }
  };
}
