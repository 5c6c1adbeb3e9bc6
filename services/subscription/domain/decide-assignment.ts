import { formatAmount, formatDecimal, type Money } from "#kernel/values/money.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";
import type { SubscriptionStatus } from "./lifecycle.ts";
import { accountBusy } from "./lock-refusals.ts";

/** The states of a Master that is not open for new Investors. */
export type UnopenState = "not_accepting" | "closing" | "archived" | "lacks_money";

const WHY: Readonly<Record<UnopenState, string>> = {
  not_accepting: "does not accept new Investors now",
  closing: "is being closed",
  archived: "is archived",
  lacks_money:
    "lacks money, for which new Investors must not pay. It accepts them when the broker has paid it in, or operators have allocated it",
};

export type AssignmentFacts = {
  /** Balance that platform's Hold returned. */
  readonly balance: Money;
  readonly openPositions: number;
  readonly minDeposit: Money;
  /** Only set where the configuration allows an Investor one subscription ever. */
  readonly hasFollowedBefore: boolean;
};

/** A subscription of the Investor that is not over. */
export type OpenSubscription = {
  readonly id: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly status: SubscriptionStatus;
};

/** Of the reasons of the account the command reports the first, which is the one that is hardest to cure. */
export function accountReasons(facts: AssignmentFacts): readonly Refusal[] {
  const { balance, openPositions, minDeposit, hasFollowedBefore } = facts;
  const reasons = [
    hasFollowedBefore ? previouslySubscribed() : undefined,
    openPositions > 0 ? investorOpenPositions(openPositions) : undefined,
    balance.minor < minDeposit.minor ? belowMinDeposit(balance, minDeposit) : undefined,
  ];
  return reasons.filter((reason) => reason !== undefined);
}

/** Why another subscription of the Investor stands in the way. */
export function blockedBy({ id, masterLogin, investorLogin, status }: OpenSubscription): Refusal | undefined {
  const extra = { outcome: "not_executed" } as const;
  switch (status) {
    case "ACTIVE":
      return refuse(
        "already_subscribed",
        `Investor ${investorLogin} already has an active subscription (id ${id}) to Master ${masterLogin}.`,
        extra,
      );
    case "PAUSED":
      return refuse(
        "exit_in_progress",
        `Investor ${investorLogin} is still leaving Master ${masterLogin} (subscription id ${id}).`,
        extra,
      );
    case "ASSIGNING":
      return accountBusy(
        `Another assignment of Investor ${investorLogin} is in progress, which ends within seconds. Nothing was executed. Send the request again in a second.`,
      );
    case "CANCELLED":
    case "ABORTED":
      return undefined;
  }
}

function previouslySubscribed(): Refusal {
  return refuse(
    "investor_previously_subscribed",
    "The Investor already had a subscription. Only one per Investor is allowed.",
    { outcome: "not_executed" },
  );
}

function investorOpenPositions(openPositions: number): Refusal {
  return refuse("investor_has_open_positions", `The Investor has open positions: ${openPositions}. Close them first.`, {
    details: { open_positions: String(openPositions) },
    outcome: "not_executed",
  });
}

function belowMinDeposit(balance: Money, minDeposit: Money): Refusal {
  const minimum = `the Master's minimum deposit of ${formatAmount(minDeposit)}`;
  return refuse("below_min_deposit", `Investor balance ${formatAmount(balance)} is below ${minimum}.`, {
    details: { required: formatDecimal(minDeposit), actual: formatDecimal(balance) },
    outcome: "not_executed",
  });
}

/** Why no Investor is assigned to a Master that is not open. Investors who are assigned already are not affected. */
export function notAccepting(masterLogin: string, state: UnopenState): Refusal {
  return refuse("master_not_accepting", `Master ${masterLogin} ${WHY[state]}.`, {
    details: { state },
    outcome: "not_executed",
  });
}
