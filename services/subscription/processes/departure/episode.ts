import { batchQueue, type BatchQueue } from "#kernel/batch-queue.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { allocationInProgress, feeNotReady } from "../../domain/departure-reasons.ts";
import { recordRefusals } from "../../store/leaves.ts";
import { jobContext } from "../deadlines.ts";
import { decideInPool, FeesNotKnown, type Together } from "./decide-in-pool.ts";
import { type DecidedWithFees, finalRefusal, type PooledDeparture } from "./departing.ts";

/** What became of a leave. "recorded": its outcome is recorded, or the next try comes to one. "waits": nothing is, for this reason. */
export type EpisodeEnd =
  | ({ readonly kind: "decided" } & DecidedWithFees)
  | { readonly kind: "recorded" }
  | {
      readonly kind: "waits";
      readonly refusal: Refusal;
      /** Fees of a closed week are to be decided or recorded first, or, with an error, `fee` has not answered. */
      readonly fees?: { readonly error: unknown };
    };

/** Leaves of one episode; more would only lengthen the time in which the pool is locked. */
const MAX_LEAVES = 64;
/** Bounds the memory; a leave that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;
/** Codes with which the queue refuses what it has done nothing for. */
const NOT_SERVED = new Set(["busy", "deadline_exceeded"]);

type Entrance = { readonly queue: BatchQueue<PooledDeparture, EpisodeEnd>; waiting: number };

/** Of each process, that is of its dependencies: the leaves that wait for each Master. */
const entrances = new WeakMap<Deps, Map<string, Entrance>>();

/**
 * Decides a leave together with the others that wait for the same Master: one reading, one strike and one transaction
 * for all. What waits while one episode runs is in the next; a leave whose turn does not come by `byMs`, a monotonic instant,
 * waits on.
 */
export async function joinEpisode(deps: Deps, leave: PooledDeparture, byMs: number): Promise<EpisodeEnd> {
  const { masterLogin } = leave.holding;
  const ofProcess = entrances.get(deps) ?? new Map<string, Entrance>();
  entrances.set(deps, ofProcess);
  const entrance = ofProcess.get(masterLogin) ?? { queue: entranceOf(deps, masterLogin), waiting: 0 };
  ofProcess.set(masterLogin, entrance);
  entrance.waiting += 1;
  try {
    return await entrance.queue.add(leave, byMs);
  } catch (error) {
    if (error instanceof Refusal && NOT_SERVED.has(error.code)) return waitsFor(masterLogin);
    throw error;
  } finally {
    entrance.waiting -= 1;
    if (entrance.waiting === 0) ofProcess.delete(masterLogin);
  }
}

function entranceOf(deps: Deps, masterLogin: string): BatchQueue<PooledDeparture, EpisodeEnd> {
  return batchQueue<PooledDeparture, EpisodeEnd>({
    name: "decide leaves",
    maxItems: MAX_LEAVES,
    maxWaiting: MAX_WAITING,
    // Each decision counts with the reserves of the one before.
    keyOf: ({ leave }) => leave.investorLogin,
    run: (leaves) => runEpisode(deps, masterLogin, leaves),
  });
}

async function runEpisode(deps: Deps, masterLogin: string, leaves: readonly PooledDeparture[]): Promise<EpisodeEnd[]> {
  try {
    const { decided, waiting } = await decideInPool(deps, { masterLogin, leaves }, jobContext());
    if (waiting.size > 0) deps.wakeSignals.fees.notify();
    return leaves.map(({ leave: { key } }) => {
      const own = decided.get(key);
      if (own !== undefined) return { kind: "decided", ...own };
      return waiting.has(key) ? feesWait() : { kind: "recorded" };
    });
  } catch (error) {
    const end = await endOf(deps, { masterLogin, leaves }, error);
    return leaves.map(() => end);
  }
}

async function endOf(deps: Deps, { masterLogin: login, leaves }: Together, error: unknown): Promise<EpisodeEnd> {
  if (error instanceof FeesNotKnown) return feesWait(error.cause);
  const isRefusal = error instanceof Refusal;
  // Another transaction holds the locks of this Master for too long: nothing was changed.
  if (!isRefusal && isTransientFailure(error)) {
    return waits(
      `Results of Master ${login} or other operations on it are being recorded, which takes seconds. Nothing was executed. Send the request again in a second.`,
    );
  }
  if (!isRefusal) deps.log.warn("Master not read, leaves refused", { login, count: leaves.length, error });
  return await refuseAll(deps, leaves, finalRefusal(error));
}

/** For the other leaves of the pool that are being decided. */
function waitsFor(masterLogin: string) {
  return waits(
    `Another operation on Master ${masterLogin} is being decided, which takes seconds. Nothing was executed. Send the request again in a second.`,
  );
}

export function feesWait(error?: unknown): Extract<EpisodeEnd, { kind: "waits" }> {
  return { kind: "waits", refusal: feeNotReady(), fees: { error } };
}

function waits(message: string): Extract<EpisodeEnd, { kind: "waits" }> {
  return { kind: "waits", refusal: allocationInProgress(message) };
}

/** No effect on a leave that was decided before, for example by a commit whose outcome is unknown. */
async function refuseAll(
  { pool, now }: Deps,
  leaves: readonly PooledDeparture[],
  refusal: Refusal,
): Promise<{ readonly kind: "recorded" }> {
  const recorded = recordedAs(refusal);
  await recordRefusals(
    pool,
    leaves.map(({ leave }) => ({ leave, refusal: recorded })),
    now(),
  );
  return { kind: "recorded" };
}
