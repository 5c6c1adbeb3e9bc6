import type { DecidedFee as FeeMessage, DueItem, RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { DecidedFee, Decision } from "../domain/decision.ts";
import { refuse } from "../refusals.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import type { DuePayment } from "../store/due-payments.ts";

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

export function decisionOf(request: RecordFeesRequest): Decision {
  const { masterLogin, key, periodEnd, isLast } = request;
  if (periodEnd === undefined || (key === "" ? masterLogin === "" : request.investors.length !== 1)) {
    throw refuse("validation_failed", "A decision has an instant, and one Investor or a Master.");
  }
  const start = request.periodStart ?? periodEnd;
  const periodStart = start < periodEnd ? start : before(periodEnd);
  const investors = request.investors.map(({ due, ...investor }) => ({ ...investor, due: due.map(feeOf) }));
  return { masterLogin, key: key === "" ? undefined : key, periodStart, periodEnd, isLast, investors };
}

function before(instant: Date): Date {
  return new Date(instant.getTime() - MIN_PERIOD_MS);
}

function feeOf({ kind, amountMinor: amount, since, explanation, ...fee }: FeeMessage): DecidedFee {
  if (since === undefined || (kind !== "PF" && kind !== "PF_DEBT")) {
    throw refuse("validation_failed", "A decided fee has a kind and an instant.");
  }
  return { ...fee, kind, amount, since, explanation: explanation === undefined ? "" : JSON.stringify(explanation) };
}

export function dueItem({ key, due, isWeekly }: DuePayment): DueItem {
  return { key, amount: usdToProto(due), isWeekly };
}
