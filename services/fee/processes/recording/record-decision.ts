import type { CallContext } from "#kernel/contract/contract.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import type { Decision } from "../../domain/decision.ts";
import { insertMaster } from "../../store/masters.ts";
import { refuse } from "../../refusals.ts";
import { type Recorded, recordTogether } from "./record-decisions.ts";

/** Records a decision, once: a repeated one changes nothing. Moves no money. */
export async function recordDecision(deps: Deps, decision: Decision, context: CallContext): Promise<void> {
  const { unknownMasters } = await record(deps, decision, context);
  if (unknownMasters.length > 0) {
    for (const login of unknownMasters) await addMaster(deps, login, context);
    await record(deps, decision, context);
  }
  if (decision.key === undefined) deps.wakeSignals.payments.notify();
}

/** Decisions about those who leave share a commit. One about a week has many Investors, and has its own. */
async function record(deps: Deps, decision: Decision, context: CallContext): Promise<Recorded> {
  try {
    if (decision.key !== undefined) {
      return await deps.queues.recording.add(decision, performance.now() + remainingMs(context));
    }
    const [recorded] = await recordTogether(deps, [decision]);
    if (recorded === undefined || recorded instanceof Error) throw recorded ?? new Error("nothing was recorded");
    return recorded;
  } catch (error) {
    const isBusy = !(error instanceof Refusal) && isTransientFailure(error);
    throw isBusy ? feesBeingRecorded(decision.masterLogin) : error;
  }
}

/** The payment account of a Master is read from account once: a change of it comes from there. */
async function addMaster({ pool, accounts }: Deps, login: string, context: CallContext): Promise<void> {
  const { paymentAccountLogin } = await accounts.findMaster({ login }, queryContext(context));
  await insertMaster(pool, login, paymentAccountLogin);
}

/** Another transaction has the row of a Master for too long: nothing was recorded, and a repetition records it. */
function feesBeingRecorded(masterLogin: string): Refusal {
  const message = `Fees of Master ${masterLogin} are being recorded, which takes seconds. Nothing was executed. Send the request again in a second.`;
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}
