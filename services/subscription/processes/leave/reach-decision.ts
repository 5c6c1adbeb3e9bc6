import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { type Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { leaveReasons } from "../../domain/leave-reasons.ts";
import { refuse } from "../../refusals.ts";
import { findInvestorState, type InvestorState, NOT_FILED } from "../../store/investor-states.ts";
import { type Leave, type NewLeave, outcomeOf, recordOutcomes } from "../../store/leaves.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { waitBudget, type WaitBudget } from "../deadlines.ts";
import { catchUp } from "../filing/catch-up.ts";
import { decideOutsidePool, settleOutsidePool } from "./decide-outside-pool.ts";
import { type EpisodeEnd, joinEpisode } from "./episode.ts";
import type { PooledLeave } from "./leaving.ts";

/** How long Leave waits for money in transit to the Master and for other leaves at its gate. */
const WAIT_MS = 3_000;

/**
 * Runs a try until its outcome is recorded: DECIDED, under this try or an earlier one, or REFUSED. Several replicas may run
 * it at once: an outcome is recorded once.
 */
export async function reachDecision(deps: Deps, request: NewLeave, context: CallContext): Promise<Leave> {
  const { investorLogin: login } = request;
  const { leaveReads: reads } = deps;
  const wait = waitBudget(context, WAIT_MS);
  let database: string | undefined;
  for (;;) {
    const [tries = [], filed = NOT_FILED] = await Promise.all([reads.tries(request.key), reads.investor(login)]);
    database ??= filed.database;
    const known = outcomeOf(tries, request);
    if (known === undefined) {
      const investor = await catchUpInvestor(deps, request, filed, context);
      const end = await tryToDecide(deps, { leave: request, database }, investor, wait);
      if (end.kind === "decided") return end.leave;
      if (end.kind === "recorded") continue;
      if (wait.isOver()) {
        await refuseTry(deps, request, end.refusal);
        continue;
      }
    } else if (known.state !== "SETTLED") {
      if (known.try > request.try && known.state === "REFUSED") {
        throw accountBusy("A later attempt of this operation has begun.");
      }
      return known;
    } else if (known.subscriptionId === null) {
      await decideOutsidePool(deps, known, context);
      continue;
    } else if (wait.isOver()) {
      // The gate is closed for this key, so it is being decided; only the outcome is not recorded yet.
      throw refuse("outcome_unknown", "The decision is in progress.", { outcome: "unknown" });
    }
    await wait.pause();
  }
}

/** Runs one step of a try without an outcome. */
async function tryToDecide(
  deps: Deps,
  { leave, database }: Pick<PooledLeave, "leave" | "database">,
  investor: InvestorState | undefined,
  wait: WaitBudget,
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
  const [final] = leaveReasons({ account: { filedNumber, heldNumber: leave.heldLogNumber }, pool: holding });
  if (final !== undefined) return await refuseTry(deps, leave, final);
  // A withdrawal takes what waits on the account for the end of a deficit, or for an archived Master; an exit takes it back.
  const isWaiting = holding?.isHeld === true && leave.kind === "WITHDRAWAL";
  if (holding === undefined || isWaiting) {
    await settleOutsidePool(deps, leave, { isWaiting });
    return { kind: "recorded" };
  }
  const [passing] = leaveReasons({ inbound: holding.isHeld ? 0n : holding.inbound });
  if (passing !== undefined) {
    deps.wakeSignals.mirrors.notify();
    return { kind: "waits", refusal: passing };
  }
  return await joinEpisode(deps, { leave, holding, database }, wait.untilMs);
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
  await recordOutcomes(pool, [{ leave, refusal: recordedAs(refusal) }], now());
  return { kind: "recorded" };
}
