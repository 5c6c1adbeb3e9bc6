import { usd, type Money } from "#kernel/money.ts";

export type DepositFacts = {
  /** The Investor was never funded through the service. */
  readonly isFirst: boolean;
  /** Undefined while the Investor follows no Master. */
  readonly masterMinimum: Money | undefined;
};

export type DepositDecision = { readonly firstDepositChecked: boolean; readonly minDeposit: Money };

/**
 * The first deposit under an active Master is looked at, and never refused: the Investor met the minimum when it was assigned, and
 * a minimum that was changed since is for later assignments.
 */
export function decideDeposit({ isFirst, masterMinimum }: DepositFacts): DepositDecision {
  return { firstDepositChecked: isFirst && masterMinimum !== undefined, minDeposit: masterMinimum ?? usd(0n) };
}
