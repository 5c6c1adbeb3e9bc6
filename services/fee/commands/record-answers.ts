import type { RecordAnswersRequest, RecordAnswersResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { outcomeOfAnswer } from "../processes/payment/payment-transfer.ts";
import { recordOutcomes } from "../processes/payment/record-outcomes.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";
import { leaveToJob, listOpenPayments } from "../store/due-payments.ts";

/**
 * Records how platform has answered the transfers of a withdrawal or exit. The job settles what is debited, with its credit, and collects what could
 * not be: the payment account is archived.
 */
export async function recordAnswers(deps: Deps, { fees }: RecordAnswersRequest): Promise<RecordAnswersResponse> {
  const answers = new Map(fees.map(({ key, answer }) => [key, answer]));
  const payments = await listOpenPayments(deps.pool, [...answers.keys()]);
  const answered = payments.map((payment) => ({
    payment,
    outcome: outcomeOfAnswer(deps, payment, answers.get(payment.key)),
  }));
  await recordOutcomes(deps, answered);
  const left = answered.filter(({ outcome }) => outcome.kind === "open" && outcome.reason === ACCOUNT_ARCHIVED);
  await leaveToJob(
    deps.pool,
    left.map(({ payment }) => payment.id),
  );
  return {};
}
