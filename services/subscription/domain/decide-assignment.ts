import { formatAmount, formatDecimal, isLess, type Money } from "#kernel/money.ts";
import { refuse } from "../refusals.ts";

export type AssignmentFacts = {
  /** Balance that platform's Hold returned. */
  readonly balance: Money;
  readonly openPositions: number;
  readonly minDeposit: Money;
  /** Only set where the configuration allows an Investor one subscription ever. */
  readonly hasFollowedBefore: boolean;
};

/**
 * Refuses when the capital of an Investor may not join a pool. If several reasons apply, the one that is hardest to
 * cure is reported.
 */
export function decideAssignment(facts: AssignmentFacts): void {
  const { balance, openPositions, minDeposit, hasFollowedBefore } = facts;
  if (hasFollowedBefore) {
    throw refuse(
      "investor_previously_subscribed",
      "The Investor already had a subscription. Only one per Investor is allowed.",
      {
        outcome: "not_executed",
      },
    );
  }
  if (openPositions > 0) {
    throw refuse(
      "investor_has_open_positions",
      `The Investor has open positions: ${openPositions}. Close them first.`,
      {
        details: { open_positions: String(openPositions) },
        outcome: "not_executed",
      },
    );
  }
  if (isLess(balance, minDeposit)) {
    const required = formatDecimal(minDeposit);
    const actual = formatDecimal(balance);
    const minimum = `the Master's minimum deposit of ${formatAmount(minDeposit)}`;
    throw refuse("below_min_deposit", `Investor balance ${formatAmount(balance)} is below ${minimum}.`, {
      details: { required, actual },
      outcome: "not_executed",
    });
  }
}
