import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { RecordFeesRequest, RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { isOpen } from "../domain/payment-outcome.ts";
import { transferOf } from "../messages/fee-transfer.ts";
import { listEndedUnpaid, type DuePayment } from "../store/due-payments.ts";
import { type Decision, decisionOf, dueItem } from "../messages/decision.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import { insertMaster } from "../store/masters.ts";
import { refuse } from "../refusals.ts";
import { type Recorded, recordTogether } from "../processes/recording/record-decisions.ts";

/** Records a decision, and returns what is collected of it: built from the stored rows, so that a repetition gets the same items. */
export async function recordFees(
  deps: Deps,
  request: RecordFeesRequest,
  context: CallContext,
): Promise<RecordFeesResponse> {
  const decision = decisionOf(request);
  await recordDecision(deps, decision, context);
  if (decision.key === "") return { items: [], endedKeys: [], transfers: [], stopped: false };
  const recorded = await deps.queues.collections(decision.key);
  assert(recorded !== undefined, "a recorded decision is found");
  const { payments } = recorded;
  const [investor] = decision.investors;
  assert(investor !== undefined, "a withdrawal or exit is of an Investor");
  const { investorLogin, openWeeklyKeys } = investor;
  assert(
    payments.every((each) => each.investorLogin === investorLogin),
    "the key was used for another Investor",
  );
  const endedKeys = await listEndedUnpaid(deps.pool, openWeeklyKeys);
  const owed = payments.filter(isOwed);
  const stopped = owed.some(({ isStopped }) => isStopped);
  return { items: payments.map(dueItem), endedKeys, transfers: owed.map((each) => transferOf(each)), stopped };
}

function isOwed(payment: DuePayment): boolean {
  return isOpen(payment) && payment.dealId === null && payment.due > 0n;
}

/** Records a decision, once: a repeated one changes nothing. Moves no money. */
async function recordDecision(deps: Deps, decision: Decision, context: CallContext): Promise<void> {
  const { unknownMasters } = await record(deps, decision, context);
  if (unknownMasters.length > 0) {
    for (const login of unknownMasters) await addMaster(deps, login, context);
    await record(deps, decision, context);
  }
  if (decision.key === "") deps.wakeSignals.payments.notify();
}

/** Decisions about those who leave share a commit. One about a week has many Investors, and has its own. */
async function record(deps: Deps, decision: Decision, context: CallContext): Promise<Recorded> {
  try {
    if (decision.key !== "") {
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
  return refuse("allocation_in_progress", message, { outcome: "not_executed" });
}
