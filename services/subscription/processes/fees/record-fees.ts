import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import type { RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../../deps.ts";
import { recordFeesRequest } from "../../messages/fee-facts.ts";
import type { FeeDecision } from "../../store/fee-decisions.ts";
import { returnReserve } from "../departure/return-reserve.ts";

/**
 * Has `fee` record a decision, and returns what is to be debited. A debt that another decision has taken meanwhile is not recorded, and a fee of a
 * week may have ended without a debit: their reserves return to the pool. Safe to repeat: while the decision is not marked as recorded, by the job or
 * by the end of its departure, the job sends it again.
 */
export async function recordFees(deps: Deps, decision: FeeDecision, context: CallContext): Promise<RecordFeesResponse> {
  const answer = await deps.fees.recordFees(recordFeesRequest(decision), withReplyReserve(context));
  failpoint("after_fees_recorded");
  if (decision.departureKey !== "") {
    const recorded = new Set(answer.items.map(({ key }) => key));
    const unrecorded = decision.due.map(({ key }) => key).filter((key) => !recorded.has(key));
    for (const key of [...unrecorded, ...answer.endedKeys]) await returnReserve(deps, key);
  }
  return answer;
}
