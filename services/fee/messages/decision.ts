import type { DueItem, RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { refuse } from "../refusals.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import type { DuePayment } from "../store/due-payments.ts";

/** What has been decided about the fees of some Investors of a Master. */
export type Decision = RecordFeesRequest & { readonly periodStart: Date; readonly periodEnd: Date };

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

export function decisionOf(request: RecordFeesRequest): Decision {
  const { masterLogin, key, periodEnd, investors } = request;
  if (periodEnd === undefined || (key === "" ? masterLogin === "" : investors.length !== 1)) {
    throw refuse("validation_failed", "A decision has an instant, and one Investor or a Master.");
  }
  const fees = investors.flatMap(({ due }) => due);
  if (!fees.every(({ kind, since }) => (kind === "PF" || kind === "PF_DEBT") && since !== undefined)) {
    throw refuse("validation_failed", "A decided fee has a kind and an instant.");
  }
  const { periodStart: start = periodEnd } = request;
  const periodStart = start < periodEnd ? start : new Date(periodEnd.getTime() - MIN_PERIOD_MS);
  return { ...request, periodStart, periodEnd };
}

export function dueItem({ key, due, isWeekly }: DuePayment): DueItem {
  return { key, amount: usdToProto(due), isWeekly };
}
