import assert from "node:assert/strict";
import { batchQueue, type BatchQueue } from "#kernel/batches/batch-queue.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { type InvestorState, NOT_FILED } from "../../store/investor-states.ts";
import { getSubscription } from "../../store/subscriptions.ts";
import { jobContext, waitBudget, type WaitBudget } from "../deadlines.ts";
import { decideOutsidePool } from "./decide-outside-pool.ts";
import { type DecisionEnd, feesWait, type HeldDeparture } from "./carry-out.ts";
import { requireWholeBooks } from "../allocate/settle-books.ts";
import {
  allocationInProgress,
  departureReasons,
  masterUnreadable,
  unassignReasons,
} from "../../domain/departure-reasons.ts";
import { decideInPool, type PooledDeparture } from "./decide-in-pool.ts";

/** How long a try waits for money in transit to the Master and for other departures from its pool. */
const WAIT_MS = 3_000;
/** Each try for fees reads the Master in vain, until `fee` answers or a week is decided. */
const FEES_PAUSE_MS = 100;
/** Departures that are decided together; more would only lengthen the time in which the pool is locked. */
const MAX_DEPARTURES = 64;
/** Bounds the memory; a departure that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;
/** Codes with which the queue refuses what it has done nothing for. */
const NOT_SERVED = new Set(["busy", "deadline_exceeded"]);

/** Decides how much a departure takes, and takes it out of the pool; what may pass within its time is waited for. */
export async function decide(
  deps: Deps,
  departure: HeldDeparture,
  context: CallContext,
): Promise<Exclude<DecisionEnd, { kind: "waits" }>> {
  const { investorLogin: login } = departure;
  const wait = waitBudget(context, WAIT_MS);
  let isLogged = false;
  for (let held = departure; ; held = { ...departure, books: undefined, reading: undefined, terms: undefined }) {
    let state = held.books ?? (await deps.accountReads.investor(login)) ?? NOT_FILED;
    if (state.holding?.isStopped === true) {
      // Operators may have resumed a moment ago.
      await requireWholeBooks(deps);
      state = (await deps.accountReads.investor(login)) ?? NOT_FILED;
    }
    const end = await decideOnce(deps, held, state, { wait, context });
    if (end.kind !== "waits") return end;
    if (wait.isOver()) return { kind: "refused", refusal: end.refusal };
    const error = end.fees?.error;
    if (error !== undefined && !isLogged) deps.log.info("terms of fees not known, retry scheduled", { login, error });
    isLogged ||= error !== undefined;
    await wait.pause(end.fees && FEES_PAUSE_MS);
  }
}

async function decideOnce(
  deps: Deps,
  departure: HeldDeparture,
  { holding, filedNumber }: InvestorState,
  { wait, context }: { readonly wait: WaitBudget; readonly context: CallContext },
): Promise<DecisionEnd> {
  // An account that changed after it was locked has to be locked and read again by the next try.
  const account = { filedNumber, heldNumber: departure.heldLogNumber };
  const [final] = departureReasons({ account, pool: holding });
  if (final !== undefined) return { kind: "refused", refusal: final };
  const isLeft = departure.kind === "EXIT" && holding?.subscriptionId !== departure.subscriptionId;
  if (isLeft) return await refuseEnded(deps, departure);
  // A withdrawal takes what waits on the account for the end of a deficit, or for an archived Master; an exit takes it back.
  const isWaiting = holding?.isHeld === true && departure.kind === "WITHDRAWAL";
  if (holding === undefined || isWaiting) return await decideOutside(deps, departure, holding, context);
  const [passing] = departureReasons({ inbound: holding.isHeld ? 0n : holding.inbound });
  if (passing !== undefined) {
    deps.wakeSignals.mirrors.notify();
    return { kind: "waits", refusal: passing };
  }
  const { subscriptionId, masterLogin } = holding;
  return await joinEpisode(deps, { ...departure, subscriptionId, masterLogin }, wait.untilMs);
}

/** Another command has ended the subscription. */
async function refuseEnded({ pool }: Deps, { subscriptionId }: HeldDeparture): Promise<DecisionEnd> {
  assert(subscriptionId !== null, "an exit is of a subscription");
  const [refusal] = unassignReasons(await getSubscription(pool, subscriptionId));
  assert(refusal !== undefined, "an Investor outside of the pool has left it");
  return { kind: "refused", refusal };
}

async function decideOutside(
  deps: Deps,
  departure: HeldDeparture,
  waitsIn: Parameters<typeof decideOutsidePool>[2]["waitsIn"],
  context: CallContext,
): Promise<DecisionEnd> {
  try {
    return await decideOutsidePool(deps, departure, { waitsIn }, context);
  } catch (error) {
    if (!(error instanceof Refusal) && !isTransientFailure(error)) throw error;
    return feesWait(error);
  }
}

type Entrance = { readonly queue: BatchQueue<PooledDeparture, DecisionEnd>; waiting: number };

/** Of each process, that is of its dependencies: the departures that wait for each Master. */
const entrances = new WeakMap<Deps, Map<string, Entrance>>();

/**
 * Decides a departure together with the others that wait for the same Master: one reading, one strike and one transaction
 * for all. What waits while one episode runs is in the next; a departure whose turn does not come by `byMs`, a monotonic instant,
 * waits on.
 */
export async function joinEpisode(deps: Deps, departure: PooledDeparture, byMs: number): Promise<DecisionEnd> {
  const { masterLogin } = departure;
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
    keyOf: ({ investorLogin }) => investorLogin,
    async run(departures) {
      try {
        const ends = await decideInPool(deps, { masterLogin, departures }, jobContext());
        const mayHelp = (end: DecisionEnd) => end.kind === "waits" && end.fees?.error === undefined;
        if ([...ends.values()].some(mayHelp)) deps.wakeSignals.fees.notify();
        return departures.map(({ operationId }) => ends.get(operationId) ?? { kind: "moved" });
      } catch (error) {
        const end = endOf(deps, masterLogin, departures.length, error);
        return departures.map(() => end);
      }
    },
  });
}

/** Nothing was decided, unless the outcome of the commit is not known: then the rows of the departures have it. */
function endOf(deps: Deps, login: string, count: number, error: unknown): DecisionEnd {
  if (error instanceof Refusal) {
    // For every error but that of the Master's trades, its account cannot be read.
    const isOfTrades = error.code === "master_open_positions" || error.code === "allocation_in_progress";
    return { kind: "refused", refusal: isOfTrades ? error : masterUnreadable() };
  }
  // Another transaction holds the locks of this Master for too long.
  if (isTransientFailure(error)) {
    return waits(`Results of Master ${login} or other operations on it are being recorded, which takes seconds.`);
  }
  deps.log.warn("Master not read, departures refused", { login, count, error });
  return { kind: "refused", refusal: masterUnreadable() };
}

function waits(reason: string): DecisionEnd {
  const message = `${reason} Nothing was executed. Send the request again in a second.`;
  return { kind: "waits", refusal: allocationInProgress(message) };
}
