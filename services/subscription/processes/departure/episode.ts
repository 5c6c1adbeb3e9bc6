import { batchQueue, type BatchQueue } from "#kernel/batches/batch-queue.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { allocationInProgress, masterUnreadable } from "../../domain/departure-reasons.ts";
import { jobContext } from "../deadlines.ts";
import { decideInPool, FeesNotKnown } from "./decide-in-pool.ts";
import { type DecisionEnd, feesWait, type PooledDeparture } from "./departing.ts";

/** Departures of one episode; more would only lengthen the time in which the pool is locked. */
const MAX_DEPARTURES = 64;
/** Bounds the memory; a departure that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;
/** Codes with which the queue refuses what it has done nothing for. */
const NOT_SERVED = new Set(["busy", "deadline_exceeded"]);

type Entrance = { readonly queue: BatchQueue<PooledDeparture, DecisionEnd>; waiting: number };

/** Of each process, that is of its dependencies: the departures that wait for each Master. */
const entrances = new WeakMap<Deps, Map<string, Entrance>>();

/**
 * Decides a departure together with the others that wait for the same Master: one reading, one strike and one transaction
 * for all. What waits while one episode runs is in the next; a departure whose turn does not come by `byMs`, a monotonic instant,
 * waits on.
 */
export async function joinEpisode(deps: Deps, departure: PooledDeparture, byMs: number): Promise<DecisionEnd> {
  const { masterLogin } = departure.holding;
  const ofProcess = entrances.get(deps) ?? new Map<string, Entrance>();
  entrances.set(deps, ofProcess);
  const entrance = ofProcess.get(masterLogin) ?? { queue: entranceOf(deps, masterLogin), waiting: 0 };
  ofProcess.set(masterLogin, entrance);
  entrance.waiting += 1;
  try {
    return await entrance.queue.add(departure, byMs);
  } catch (error) {
    if (error instanceof Refusal && NOT_SERVED.has(error.code)) {
      return waits(`Another operation on Master ${masterLogin} is being decided, which takes seconds.`);
    }
    throw error;
  } finally {
    entrance.waiting -= 1;
    if (entrance.waiting === 0) ofProcess.delete(masterLogin);
  }
}

function entranceOf(deps: Deps, masterLogin: string): BatchQueue<PooledDeparture, DecisionEnd> {
  return batchQueue<PooledDeparture, DecisionEnd>({
    name: "decide departures",
    maxItems: MAX_DEPARTURES,
    maxWaiting: MAX_WAITING,
    // Each decision counts with the reserves of the one before.
    keyOf: ({ departure }) => departure.investorLogin,
    run: (departures) => runEpisode(deps, masterLogin, departures),
  });
}

async function runEpisode(
  deps: Deps,
  masterLogin: string,
  departures: readonly PooledDeparture[],
): Promise<DecisionEnd[]> {
  try {
    const ends = await decideInPool(deps, { masterLogin, departures }, jobContext());
    if ([...ends.values()].some(({ kind }) => kind === "waits")) deps.wakeSignals.fees.notify();
    return departures.map(({ departure }) => ends.get(departure.operationId) ?? { kind: "moved" });
  } catch (error) {
    const end = endOf(deps, masterLogin, departures.length, error);
    return departures.map(() => end);
  }
}

/** Nothing was decided, unless the outcome of the commit is not known: then the rows of the departures have it. */
function endOf(deps: Deps, login: string, count: number, error: unknown): DecisionEnd {
  if (error instanceof FeesNotKnown) return feesWait(error.cause);
  if (error instanceof Refusal) return { kind: "refused", refusal: finalRefusal(error) };
  // Another transaction holds the locks of this Master for too long.
  if (isTransientFailure(error)) {
    return waits(`Results of Master ${login} or other operations on it are being recorded, which takes seconds.`);
  }
  deps.log.warn("Master not read, departures refused", { login, count, error });
  return { kind: "refused", refusal: masterUnreadable() };
}

/** For every error but that of the Master's trades, its account cannot be read. */
function finalRefusal(refusal: Refusal): Refusal {
  const isOfTrades = refusal.code === "master_open_positions" || refusal.code === "allocation_in_progress";
  return isOfTrades ? refusal : masterUnreadable();
}

function waits(reason: string): DecisionEnd {
  const message = `${reason} Nothing was executed. Send the request again in a second.`;
  return { kind: "waits", refusal: allocationInProgress(message) };
}
