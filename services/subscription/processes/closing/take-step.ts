import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { MAX_RETRY_MS, reasonOf } from "#kernel/retry.ts";
import type { Deps } from "../../deps.ts";
import { reasonForAll, stepsLeft } from "../../domain/closing.ts";
import { waitingFees } from "../../messages/market-wait.ts";
import {
  type ClaimedClosing,
  countLeft,
  findUnsettled,
  listLeavers,
  markArchived,
  recordStep,
  type Step,
} from "../../store/closings.ts";
import { findSafetyStop } from "../../store/masters.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { markUnassignmentEnded } from "../../store/unassignments.ts";
import { claimTry, type Command } from "../exit/claim-try.ts";
import { finishExit } from "../exit/finish-exit.ts";
import { tryToLeave } from "../exit/try-to-leave.ts";
import { exitCommandOf } from "./exit-command.ts";

/** Exits of one step, all at the same time: they share an episode, and each uses a connection now and then. */
const EXITS_PER_STEP = 16;
/** A trader closes a position without a sign to this service. */
const FLAT_MS = 5_000;
/** Exits end within seconds. */
const EXITS_MS = 2_000;

/** Takes the next Investors out, or archives a Master that has none. True when the next step can follow at once. */
export async function takeStep(deps: Deps, closing: ClaimedClosing, context: CallContext): Promise<boolean> {
  const { pool, now, log } = deps;
  const { masterLogin: login } = closing;
  const { maxPauseMs, ...end } = await stepOf(deps, closing, context);
  failpoint("after_closing_step");
  if (end.isArchived) {
    if (await markArchived(pool, login, now())) log.info("Master archived", { login });
    return false;
  }
  const { afterInvestorId, reason } = end;
  const left = stepsLeft(await countLeft(pool, login));
  await recordStep(pool, closing, { afterInvestorId, stepsLeft: left, reason, maxPauseMs }, now());
  return maxPauseMs === undefined;
}

type End = Omit<Step, "stepsLeft"> & { readonly isArchived?: true };

async function stepOf(deps: Deps, closing: ClaimedClosing, context: CallContext): Promise<End> {
  const { masterLogin: login, afterInvestorId } = closing;
  const waits = (reason: string, maxPauseMs = MAX_RETRY_MS): End => ({ afterInvestorId, reason, maxPauseMs });
  if ((await findSafetyStop(deps.pool, login)) === "stopped") return waits("safety_stop");
  try {
    // Otherwise each Investor would be locked and refused.
    const { positions } = await deps.platform.readAccount({ login }, withReplyReserve(context));
    if (positions.length > 0) return waits("master_open_positions", FLAT_MS);
  } catch (error) {
    deps.log.info("Master not read, closing goes on later", { login, error });
    return waits(reasonOf(error));
  }
  const leavers = await listLeavers(deps.pool, { masterLogin: login, afterInvestorId, limit: EXITS_PER_STEP });
  return leavers.length === 0 ? await endPass(deps, closing, context) : await takeOut(deps, closing, leavers, context);
}

async function takeOut(
  deps: Deps,
  closing: ClaimedClosing,
  leavers: readonly Subscription[],
  context: CallContext,
): Promise<End> {
  const { afterInvestorId, reason } = closing;
  const leaving = leavers.map((subscription) =>
    leave(deps, subscription, exitCommandOf(closing, subscription.id), context),
  );
  const reasons = await Promise.all(leaving);
  const ofAll = reasonForAll(reasons);
  if (ofAll !== undefined) {
    return { afterInvestorId, reason: ofAll, maxPauseMs: ofAll === "master_open_positions" ? FLAT_MS : MAX_RETRY_MS };
  }
  const before = afterInvestorId === 0n ? null : reason;
  const own = reasons.find((each) => each !== undefined) ?? before;
  return { afterInvestorId: leavers.at(-1)?.investorId ?? afterInvestorId, reason: own, maxPauseMs: undefined };
}

/** Why the Investor is still in the pool, or its exit not finished. The recovery job of exits finishes one that has left. */
async function leave(
  deps: Deps,
  subscription: Subscription,
  command: Command,
  context: CallContext,
): Promise<string | undefined> {
  try {
    const exit = await claimTry(deps, subscription, context, command);
    // Another command takes the Investor out, or the account lock of a refused try is still being released.
    if (exit === undefined) return "account_busy";
    const left = await tryToLeave(deps, { subscription, exit }, context);
    await markUnassignmentEnded(deps.pool, command.commandId, { at: deps.now(), refusal: undefined });
    await finishExit(deps, left, context);
    return undefined;
  } catch (error) {
    deps.log.info("exit of a closing not finished, retry scheduled", { id: subscription.id, error });
    return reasonOf(error);
  }
}

/** Every Investor of the Master was tried: those who could not leave are tried again after a pause. */
async function endPass(deps: Deps, { masterLogin, reason }: ClaimedClosing, context: CallContext): Promise<End> {
  const { pool } = deps;
  const waits = (why: string | null): End => ({ afterInvestorId: 0n, reason: why, maxPauseMs: EXITS_MS });
  const { investors, exits } = await countLeft(pool, masterLogin);
  if (investors > 0n) return waits(reason ?? "account_busy");
  if (exits > 0n) {
    const [waiting] = waitingFees(await deps.fees.getWaitingFees({ masterLogin }, withReplyReserve(context)));
    return waits(waiting?.kind ?? "exits_in_progress");
  }
  const unsettled = await findUnsettled(pool, masterLogin);
  return unsettled === null ? { ...waits(null), isArchived: true } : waits(unsettled);
}
