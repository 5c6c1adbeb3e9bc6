import { formatAmount, formatDecimal, isLess, usd, type Money } from "#kernel/money.ts";
import { refuse } from "../refusals.ts";

export type DepositFacts = {
  readonly amount: Money;
  /** The Investor was never funded through the service. */
  readonly isFirst: boolean;
  /** Undefined while the Investor follows no Master. */
  readonly masterMinimum: Money | undefined;
};

export type DepositDecision = { readonly firstDepositChecked: boolean; readonly minDeposit: Money };

/** Only the first deposit under an active Master must meet that Master's minimum. */
export function decideDeposit({ amount, isFirst, masterMinimum }: DepositFacts): DepositDecision {
  const firstDepositChecked = isFirst && masterMinimum !== undefined;
  if (firstDepositChecked && isLess(amount, masterMinimum)) {
    const minimum = `the Master's minimum deposit of ${formatAmount(masterMinimum)}`;
    const [required, actual] = [formatDecimal(masterMinimum), formatDecimal(amount)];
    throw refuse("below_min_deposit", `First deposit ${formatAmount(amount)} is below ${minimum}.`, {
      details: { required, actual },
      outcome: "not_executed",
    });
  }
  return { firstDepositChecked, minDeposit: masterMinimum ?? usd(0n) };
}
