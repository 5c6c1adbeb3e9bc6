import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { departureReasons } from "../../domain/departure-reasons.ts";
import { refuse } from "../../refusals.ts";
import { findInvestorState, type InvestorState, NOT_FILED } from "../../store/investor-states.ts";
import { findUnrecordedOf } from "../../store/fee-decisions.ts";
import { type Leave, type LeftHolding, type NewLeave, outcomeOf, recordRefusals } from "../../store/leaves.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { waitBudget, type WaitBudget } from "../deadlines.ts";
import { catchUp } from "../filing/catch-up.ts";
import { recordFees } from "../fees/record-fees.ts";
import { decideOutsidePool } from "./decide-outside-pool.ts";
import { type EpisodeEnd, feesWait, joinEpisode } from "./episode.ts";
import type { HeldDeparture, DecidedWithFees, PooledDeparture } from "./departing.ts";

/** How long Leave waits for money in transit to the Master and for other leaves of its pool. */
const WAIT_MS = 3_000;
/** Each try for fees reads the Master in vain, until `fee` answers or a week is decided. */
const FEES_PAUSE_MS = 100;
/** How long it waits for `fee` to record what is due. */
const RECORD_MS = 2_000;

/**
 * Runs a try until its outcome is recorded: DECIDED, under this try or an earlier one, or REFUSED. The fees of a decided leave are recorded
 * by `fee` when it returns. Several replicas may run it at once: an outcome is recorded once.
 */
export async function reachDecision(deps: Deps, request: HeldDeparture, context: CallContext): Promise<Leave> {
  const { investorLogin: login } = request;
  const { departureReads: reads } = deps;
  const wait = waitBudget(context, WAIT_MS);
  let database: string | undefined;
  let isLogged = false;
  for (;;) {
    const [tries = [], filed = NOT_FILED] = await Promise.all([reads.tries(request.key), reads.investor(login)]);
    database ??= filed.database;
    const known = outcomeOf(tries, request);
    if (known !== undefined) {
      if (known.try > request.try && known.state === "REFUSED") {
        throw accountBusy("A later attempt of this operation has begun.");
      }
      const fees = known.state === "DECIDED" ? await findUnrecordedOf(deps.pool, known.key) : undefined;
      return await withRecordedFees(deps, { leave: known, fees }, context);
    }
    const investor = await catchUpInvestor(deps, request, filed, context);
    const end = await tryToDecide(deps, { leave: request, database, investor }, wait, context);
    if (end.kind === "decided") return await withRecordedFees(deps, end, context);
    if (end.kind === "waits" && wait.isOver()) {
      await refuseTry(deps, request, end.refusal);
      continue;
    }
    if (end.kind !== "waits") continue;
    const error = end.fees?.error;
    if (error !== undefined && !isLogged) deps.log.info("terms of fees not known, retry scheduled", { login, error });
    isLogged ||= error !== undefined;
    await wait.pause(end.fees && FEES_PAUSE_MS);
  }
}

/** The money of the leave may be collected when `fee` has its payments. */
async function withRecordedFees(deps: Deps, { leave, fees }: DecidedWithFees, context: CallContext): Promise<Leave> {
  if (fees === undefined) return leave;
  const wait = waitBudget(context, RECORD_MS);
  for (;;) {
    try {
      await recordFees(deps, fees, context);
      return leave;
    } catch (error) {
      if (!wait.isOver()) {
        await wait.pause();
        continue;
      }
      const { key, investorLogin: login } = leave;
      deps.log.info("performance fee not recorded, retry scheduled", { key, login, error });
      throw refuse("outcome_unknown", "The withdrawal is decided. Its performance fee is not recorded yet.", {
        outcome: "unknown",
      });
    }
  }
}

type Undecided = Pick<PooledDeparture, "leave" | "database"> & {
  /** Undefined when the log of the account cannot be read. */
  readonly investor: InvestorState | undefined;
};

/** Runs one step of a try without an outcome. */
async function tryToDecide(
  deps: Deps,
  { leave, database, investor }: Undecided,
  wait: WaitBudget,
  context: CallContext,
): Promise<EpisodeEnd> {
  if (investor === undefined) {
    return await refuseTry(
      deps,
      leave,
      accountBusy(
        "The latest movements of the Investor's account are not read yet, which takes seconds. Nothing was executed. Send the request again in a second.",
      ),
    );
  }
  const { filedNumber, holding } = investor;
  // An account that changed after it was locked has to be locked and read again by the next try.
  const [final] = departureReasons({ account: { filedNumber, heldNumber: leave.heldLogNumber }, pool: holding });
  if (final !== undefined) return await refuseTry(deps, leave, final);
  // A withdrawal takes what waits on the account for the end of a deficit, or for an archived Master; an exit takes it back.
  const isWaiting = holding?.isHeld === true && leave.kind === "WITHDRAWAL";
  if (holding === undefined || isWaiting) return await decideOutside(deps, leave, holding, context);
  const [passing] = departureReasons({ inbound: holding.isHeld ? 0n : holding.inbound });
  if (passing !== undefined) {
    deps.wakeSignals.mirrors.notify();
    return { kind: "waits", refusal: passing };
  }
  return await joinEpisode(deps, { leave, holding, database }, wait.untilMs);
}

async function decideOutside(
  deps: Deps,
  leave: HeldDeparture,
  waitsIn: LeftHolding | undefined,
  context: CallContext,
): Promise<EpisodeEnd> {
  try {
    const decided = await decideOutsidePool(deps, leave, { waitsIn }, context);
    if (decided === "waits") return feesWait();
    return decided === undefined ? { kind: "recorded" } : { kind: "decided", ...decided };
  } catch (error) {
    if (!(error instanceof Refusal) && !isTransientFailure(error)) throw error;
    return feesWait(error);
  }
}

/** The Investor's holding and filed log position, filed up to the locked one; undefined when its log cannot be read. */
async function catchUpInvestor(
  deps: Deps,
  leave: NewLeave,
  investor: InvestorState,
  context: CallContext,
): Promise<InvestorState | undefined> {
  const { investorLogin: login, heldLogNumber: upTo } = leave;
  if (investor.filedNumber >= upTo) return investor;
  try {
    await catchUp(deps, { login, upTo }, withReplyReserve(context));
  } catch (error) {
    deps.log.warn("log not read, leave refused", { login, key: leave.key, error });
    return undefined;
  }
  return await findInvestorState(deps.pool, login);
}

/** No effect when an outcome is recorded already. */
async function refuseTry({ pool, now }: Deps, leave: NewLeave, refusal: Refusal): Promise<EpisodeEnd> {
  await recordRefusals(pool, [{ leave, refusal: recordedAs(refusal) }], now());
  return { kind: "recorded" };
}
