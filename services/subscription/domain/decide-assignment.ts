import { formatAmount, formatDecimal, type Money } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";
import type { SubscriptionStatus } from "./lifecycle.ts";
import { accountBusy, masterArchived } from "./lock-refusals.ts";
import { safetyStop } from "./safety-stop.ts";

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

/**
 * What is known about an assignment: the command asks for one part after the other, and a part that it does not know yet gives no
 * reason.
 */
export type KnownOfAssignment = {
  readonly open?: OpenSubscription | undefined;
  readonly pool?: { readonly masterLogin: string; readonly stop: "stopped" | "deficit" | undefined };
  readonly admission?: { readonly masterLogin: string; readonly state: UnopenState | undefined };
  /** The Master, when the broker has archived its account. */
  readonly archived?: string | undefined;
  readonly account?: AssignmentFacts | undefined;
};

/**
 * Everything for which the capital of an Investor may not join a pool now. The command reports the first reason; of those of the
 * account, the one that is hardest to cure.
 */
export function assignmentReasons({ open, pool, admission, archived, account }: KnownOfAssignment): readonly Refusal[] {
  const reasons = [
    open === undefined ? undefined : blockedBy(open),
    pool?.stop === undefined ? undefined : safetyStop(pool.masterLogin, pool.stop),
    admission?.state === undefined ? undefined : notAccepting(admission.masterLogin, admission.state),
    archived === undefined ? undefined : masterArchived(archived),
    ...(account === undefined ? [] : accountReasons(account)),
  ];
  return reasons.filter((reason) => reason !== undefined);
}

/** Refuses for the first reason. */
export function checkAssignment(known: KnownOfAssignment): void {
  const [reason] = assignmentReasons(known);
  if (reason !== undefined) throw reason;
}

function accountReasons(facts: AssignmentFacts): readonly (Refusal | undefined)[] {
  const { balance, openPositions, minDeposit, hasFollowedBefore } = facts;
  return [
    hasFollowedBefore ? previouslySubscribed() : undefined,
    openPositions > 0 ? investorOpenPositions(openPositions) : undefined,
    balance.minor < minDeposit.minor ? belowMinDeposit(balance, minDeposit) : undefined,
  ];
}

function blockedBy({ id, masterLogin, investorLogin, status }: OpenSubscription): Refusal | undefined {
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
function notAccepting(masterLogin: string, state: UnopenState): Refusal {
  return refuse("master_not_accepting", `Master ${masterLogin} ${WHY[state]}.`, {
    details: { state },
    outcome: "not_executed",
  });
}
