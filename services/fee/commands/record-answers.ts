import type { RecordAnswersRequest, RecordAnswersResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { outcomeOfAnswer } from "../processes/payment/payment-transfer.ts";
import { recordOutcomes } from "../processes/payment/record-outcomes.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";
import { leaveToJob } from "../store/due-payments.ts";

/**
 * Records how platform has answered the transfers of a withdrawal or exit. The job settles what is debited, with its credit, and collects what could
 * not be: the payment account is archived.
 */
export async function recordAnswers(deps: Deps, { fees }: RecordAnswersRequest): Promise<RecordAnswersResponse> {
  const payments = await Promise.all(fees.map(({ key }) => deps.queues.openPayments(key)));
  const answered = payments.flatMap((payment, index) =>
    payment === undefined ? [] : [{ payment, outcome: outcomeOfAnswer(deps, payment, fees[index]?.answer) }],
  );
  await recordOutcomes(deps, answered);
  const left = answered.filter(({ outcome }) => outcome.kind === "open" && outcome.reason === ACCOUNT_ARCHIVED);
  await leaveToJob(
    deps.pool,
    left.map(({ payment }) => payment.id),
  );
  return {};
}
