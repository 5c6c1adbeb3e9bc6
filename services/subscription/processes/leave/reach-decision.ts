import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { allocationInProgress } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { closeGate, type Gate } from "../../store/gates.ts";
import {
  findLeave,
  findUnrefusedLeave,
  type Leave,
  markGated,
  markRefused,
  type NewLeave,
  tryInsertLeave,
} from "../../store/leaves.ts";
import { findInvestorState, type InvestorState } from "../../store/investor-states.ts";
import { catchUp } from "../filing/catch-up.ts";
import { accountBusy } from "../account-lock.ts";
import { waitBudget } from "../deadlines.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { decideOutsidePool, settleOutsidePool } from "./decide-outside-pool.ts";
import { decideUnderGate } from "./decide-under-gate.ts";

/** How long Leave waits for money in transit to the Master and for other leaves at its gate. */
const WAIT_MS = 3_000;
/** Code with which fee refuses while the fees of a Master are stopped. */
const SAFETY_STOP = "safety_stop";

/**
 * Runs a try until its outcome is recorded: DECIDED, under this try or an earlier one, or REFUSED. Several replicas may run
 * it at once: each step is a compare-and-set on the row of the try.
 */
export async function reachDecision(deps: Deps, request: NewLeave, context: CallContext): Promise<Leave> {
  const { pool, now } = deps;
  const wait = waitBudget(context, WAIT_MS);
  const prepareFee = feePreparation(deps, context);
  await tryInsertLeave(pool, request, now());
  for (;;) {
    const current = await findUnrefusedLeave(pool, request.key);
    if (current?.state === "DECIDED") return current;
    const own = await findLeave(pool, request);
    if (own?.state === "REFUSED") return own;
    if (own === undefined && current === undefined) throw accountBusy("A later attempt of this operation has begun.");
    if (current?.state === "SETTLED" && current.subscriptionId === null) {
      await decideOutsidePool(deps, current, context);
      continue;
    }
    if (own?.state === "WAITING") {
      const blocked = await runStep(deps, own, prepareFee, context);
      if (blocked === undefined) continue;
      if (wait.isOver()) {
        await refuseWaiting(deps, own, blocked);
        continue;
      }
    } else if (wait.isOver()) {
      // The gate is closed for this try, so it is being decided; only the outcome is not recorded yet.
      throw refuse("outcome_unknown", "The decision is in progress.", { outcome: "unknown" });
    }
    await wait.pause();
  }
}

/** Runs one step. Returns the refusal that blocks it now, or undefined when the row has changed. */
async function runStep(
  deps: Deps,
  leave: Leave,
  prepareFee: FeePreparation,
  context: CallContext,
): Promise<Refusal | undefined> {
  const investor = await readInvestor(deps, leave, context);
  if (investor === undefined) {
    return await refuseWaiting(deps, leave, accountBusy("The account cannot be read now. Retry shortly."));
  }
  if (investor.filedNumber !== leave.heldLogNumber) {
    // The account changed after it was locked: the next try has to lock and read it again.
    return await refuseWaiting(deps, leave, accountBusy("The account changed while it was being read. Retry shortly."));
  }
  const { holding } = investor;
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
  if (fee === "unavailable") return allocationInProgress("Performance fees cannot be calculated now. Retry shortly.");
  const gate = await closeGateFor(deps, leave, holding);
  if (gate === "busy") {
    return allocationInProgress(`Another operation on Master ${holding.masterLogin} is being decided. Retry shortly.`);
  }
  const { subscriptionId, masterLogin } = holding;
  const gated = { ...leave, state: "GATED", subscriptionId, masterLogin } as const;
  if (gate !== "taken_over") await decideUnderGate(deps, gated, gate, context);
  return undefined;
}

/** "stopped": fee cannot read the allocations of this Master until an operator has decided. */
type FeePreparation = (masterLogin: string) => Promise<"ready" | "stopped" | "unavailable">;

/** Prepares fee before the gate closes: crystallisation is then fast, and an unavailable fee refuses early. Succeeds once. */
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
      if (!hasFailed) log.info("fee not prepared, retry scheduled", { login: masterLogin, error });
      hasFailed = true;
    }
    return isPrepared ? "ready" : "unavailable";
  };
}

/** The Investor's holding and filed log position, filed up to the locked one; undefined when its log cannot be read. */
async function readInvestor(deps: Deps, leave: Leave, context: CallContext): Promise<InvestorState | undefined> {
  const { investorLogin: login, heldLogNumber: upTo } = leave;
  try {
    await catchUp(deps, { login, upTo }, withReplyReserve(context));
  } catch (error) {
    deps.log.warn("log not read, leave refused", { login, key: leave.key, error });
    return undefined;
  }
  return await findInvestorState(deps.pool, login);
}

/** Closes the gate and marks the try in one commit. "taken_over": another replica runs this try. */
async function closeGateFor(
  { pool }: Deps,
  leave: Leave,
  holding: { readonly subscriptionId: bigint; readonly masterLogin: string },
): Promise<Gate | "busy" | "taken_over"> {
  return await inTransaction(pool, async (tx) => {
    const gate = await closeGate(tx, holding.masterLogin, leave);
    if (gate === undefined) return "busy";
    if (await markGated(tx, leave, holding)) return gate;
    throw new RunByAnotherReplica();
  }).catch((error: unknown) => {
    if (error instanceof RunByAnotherReplica) return "taken_over" as const;
    // Another transaction holds the locks of this Master for too long: nothing was changed, and the try waits.
    if (isTransientFailure(error)) return "busy" as const;
    throw error;
  });
}

/** Rolls back the closing of the gate. */
class RunByAnotherReplica extends Error {
  override readonly name = "RunByAnotherReplica";
}

async function refuseWaiting({ pool, now }: Deps, leave: Leave, refusal: Refusal): Promise<undefined> {
  await markRefused(pool, { ...leave, state: "WAITING" }, recordedAs(refusal), now());
}
