import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { type InvestorState, NOT_FILED } from "../../store/investor-states.ts";
import { getSubscription } from "../../store/subscriptions.ts";
import { waitBudget, type WaitBudget } from "../deadlines.ts";
import { decideOutsidePool } from "./decide-outside-pool.ts";
import { type DecisionEnd, feesWait, type HeldDeparture } from "./departing.ts";
import { requireWholeBooks } from "../allocate/settle-books.ts";
import { joinEpisode } from "./episode.ts";
import { departureReasons, unassignReasons } from "../../domain/departure-reasons.ts";

/** How long a try waits for money in transit to the Master and for other departures from its pool. */
const WAIT_MS = 3_000;
/** Each try for fees reads the Master in vain, until `fee` answers or a week is decided. */
const FEES_PAUSE_MS = 100;

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
  return await joinEpisode(deps, { departure, holding }, wait.untilMs);
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
