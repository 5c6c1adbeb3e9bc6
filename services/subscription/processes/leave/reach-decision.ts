import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { notReadYet } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { closeGate, type Gate } from "../../store/gates.ts";
import {
  findLeave,
  findStandingLeave,
  type Leave,
  markGated,
  markRefused,
  type NewLeave,
  tryInsertLeave,
} from "../../store/leaves.ts";
import { recordedAs } from "../../store/recorded-refusal.ts";
import { findStanding, type Standing } from "../../store/standings.ts";
import { catchUp } from "../filing/catch-up.ts";
import { accountBusy } from "../account-lock.ts";
import { timeout } from "../timeout.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { decideOutsidePool, settleOutsidePool } from "./decide-outside-pool.ts";
import { decideUnderGate } from "./decide-under-gate.ts";

/** So long Leave waits for money that is on its way to the Master, and for others at its gate. */
const WAIT_MS = 3_000;
/** What fee refuses with, too. */
const SAFETY_STOP = "safety_stop";

/**
 * Leads a try to its end, which is on record when this returns: DECIDED, under this try or an earlier one, or REFUSED.
 * Any process may lead it, also several at once: each step is a compare-and-set on the row of the try.
 */
export async function reachDecision(deps: Deps, asked: NewLeave, context: CallContext): Promise<Leave> {
  const { pool, now } = deps;
  const wait = timeout(context, WAIT_MS);
  const prepareFee = feePreparation(deps, context);
  await tryInsertLeave(pool, asked, now());
  for (;;) {
    const standing = await findStandingLeave(pool, asked.key);
    if (standing?.state === "DECIDED") return standing;
    const own = await findLeave(pool, asked);
    if (own?.state === "REFUSED") return own;
    if (own === undefined && standing === undefined) throw accountBusy("A later attempt of this operation has begun.");
    if (standing?.state === "SETTLED" && standing.subscriptionId === null) {
      await decideOutsidePool(deps, standing, context);
      continue;
    }
    if (own?.state === "WAITING") {
      const why = await goOn(deps, own, prepareFee, context);
      if (why === undefined) continue;
      if (wait.isOver()) {
        await refuseWaiting(deps, own, why);
        continue;
      }
    } else if (wait.isOver()) {
      // Somebody has closed the gate for it, so it is being decided and will be; only the answer is not there yet.
      throw refuse("outcome_unknown", "The decision is in progress.", { outcome: "unknown" });
    }
    await wait.pause();
  }
}

/** One step further. Says what is in the way, or nothing when the row has moved on. */
async function goOn(
  deps: Deps,
  leave: Leave,
  prepareFee: FeePreparation,
  context: CallContext,
): Promise<Refusal | undefined> {
  const standing = await readStanding(deps, leave, context);
  if (standing === undefined) {
    return await refuseWaiting(deps, leave, accountBusy("The account cannot be read now. Retry shortly."));
  }
  if (standing.filedNumber !== leave.heldLogNumber) {
    // What was held is not what is there any more: the account lock has to be asked again, by the next try.
    return await refuseWaiting(deps, leave, accountBusy("The account changed while it was being read. Retry shortly."));
  }
  const { holding } = standing;
  if (holding === undefined) {
    await settleOutsidePool(deps, leave);
    return undefined;
  }
  if (holding.isStopped) return await refuseWaiting(deps, leave, safetyStop(holding.masterLogin, "stopped"));
  if (holding.inbound !== 0n) {
    deps.wakeSignals.mirrors.notify();
    return accountBusy("A transfer to the Master is still in progress. Retry shortly.");
  }
  const fee = await prepareFee(holding.masterLogin);
  if (fee === "stopped") return await refuseWaiting(deps, leave, safetyStop(holding.masterLogin, "stopped"));
  if (fee === "away") return notReadYet("Performance fees cannot be calculated now. Retry shortly.");
  const gate = await closeGateFor(deps, leave, holding);
  if (gate === "busy") {
    return notReadYet(`Another operation on Master ${holding.masterLogin} is being decided. Retry shortly.`);
  }
  const { subscriptionId, masterLogin } = holding;
  const gated = { ...leave, state: "GATED", subscriptionId, masterLogin } as const;
  if (gate !== "gone") await decideUnderGate(deps, gated, gate, context);
  return undefined;
}

/** "stopped": fee cannot read what this Master has allocated until people have decided. */
type FeePreparation = (masterLogin: string) => Promise<"ready" | "stopped" | "away">;

/** Asked before anything is closed: afterwards fee has only little to read, and without it nobody leaves. Succeeds once. */
function feePreparation({ fees, log }: Deps, context: CallContext): FeePreparation {
  let isPrepared = false;
  let hasFailed = false;
  return async (masterLogin) => {
    if (isPrepared) return "ready";
    try {
      await fees.prepare({ masterLogin }, withReplyReserve(context));
      isPrepared = true;
    } catch (error) {
      if (error instanceof Refusal && error.code === SAFETY_STOP) return "stopped";
      if (!hasFailed) log.warn("fee is not there", { login: masterLogin, error });
      hasFailed = true;
    }
    return isPrepared ? "ready" : "away";
  };
}

/** What is known of the Investor, filed up to what was held; undefined when its log cannot be read. */
async function readStanding(deps: Deps, leave: Leave, context: CallContext): Promise<Standing | undefined> {
  const { investorLogin: login, heldLogNumber: upTo } = leave;
  try {
    await catchUp(deps, { login, upTo }, withReplyReserve(context));
  } catch (error) {
    deps.log.warn("a log could not be filed", { login, key: leave.key, error });
    return undefined;
  }
  return await findStanding(deps.pool, login);
}

/** The gate and the row of the try close together. "gone": another process leads this try. */
async function closeGateFor(
  { pool, now }: Deps,
  leave: Leave,
  holding: { readonly subscriptionId: bigint; readonly masterLogin: string },
): Promise<Gate | "busy" | "gone"> {
  return await inTransaction(pool, async (tx) => {
    const gate = await closeGate(tx, holding.masterLogin, leave, now());
    if (gate === undefined) return "busy";
    if (await markGated(tx, leave, holding)) return gate;
    throw new LedByAnother();
  }).catch((error: unknown) => {
    if (error instanceof LedByAnother) return "gone" as const;
    // Somebody else works on this Master for longer than a lock is waited for: nothing has happened, and the gate waits.
    if (isTransientFailure(error)) return "busy" as const;
    throw error;
  });
}

/** Rolls the closing of the gate back. */
class LedByAnother extends Error {
  override readonly name = "LedByAnother";
}

async function refuseWaiting({ pool, now }: Deps, leave: Leave, refusal: Refusal): Promise<undefined> {
  await markRefused(pool, { ...leave, state: "WAITING" }, recordedAs(refusal), now());
}
