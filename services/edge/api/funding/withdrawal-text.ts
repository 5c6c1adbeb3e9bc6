import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount, type Money, usd } from "#kernel/values/money.ts";
import type { Money as MoneyMessage } from "#proto/pamm/common/v1/money.ts";
import type { WithdrawalFigures } from "#proto/pamm/funding/v1/funding.ts";

/** Whether a withdrawal was executed, or would do this now, or would if nothing blocked it. */
type Certainty = "executed" | "possible" | "blocked";

const VERBS: Readonly<Record<Certainty, { readonly paid: (amount: string) => string; readonly nothing: string }>> = {
  executed: { paid: (amount) => `Withdrew ${amount}`, nothing: "nothing was withdrawn" },
  possible: { paid: (amount) => `Would withdraw ${amount}`, nothing: "nothing would be withdrawn" },
  blocked: {
    paid: (amount) => `Would withdraw ${amount} if nothing blocked it`,
    nothing: "nothing would be withdrawn",
  },
};

export function payoutStatus(effective: MoneyMessage | undefined): "success" | "no_funds" {
  return moneyFromProto(effective).minor === 0n ? "no_funds" : "success";
}

/** What a withdrawal has done, or would do, with these figures. */
export function outcomeText(
  done: WithdrawalFigures,
  requestedAmount: MoneyMessage | undefined,
  certainty: Certainty,
): string {
  const verb = VERBS[certainty];
  const [paid, requested] = [moneyFromProto(done.effectiveWithdraw), moneyFromProto(requestedAmount)];
  const heldBack = heldBackOf(done);
  const why = notAvailable(done, heldBack);
  if (paid.minor === 0n) {
    return `Balance is ${formatAmount(moneyFromProto(done.balanceBefore))}; ${verb.nothing}${why}.`;
  }
  if (paid.minor >= requested.minor) {
    const rest = heldBack.minor > 0n ? ` Held back: funds under review ${formatAmount(heldBack)}.` : "";
    return `${verb.paid(formatAmount(paid))}.${rest}`;
  }
  const ofRequested = `${formatAmount(paid)} of ${formatAmount(requested)}`;
  return `${verb.paid(ofRequested)}: the full available amount${why}.`;
}

/** Why the balance was not available: the performance fee, and external funds that await a decision. */
function notAvailable(done: WithdrawalFigures, heldBack: Money): string {
  const fee = moneyFromProto(done.pendingFee);
  const reasons = [
    ...(fee.minor > 0n ? [`performance fee ${formatAmount(fee)}`] : []),
    ...(heldBack.minor > 0n ? [`funds under review ${formatAmount(heldBack)}`] : []),
  ];
  return reasons.length === 0 ? "" : ` (not available: ${reasons.join(", ")})`;
}

/** What is left of the balance after the fee, and not available. Not above zero when there is nothing. */
export function heldBackOf(done: WithdrawalFigures): Money {
  const afterFee = moneyFromProto(done.balanceBefore).minor - moneyFromProto(done.pendingFee).minor;
  return usd(afterFee - moneyFromProto(done.availableAfterFee).minor);
}
