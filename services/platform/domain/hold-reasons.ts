import { BUSY_RETRY_AFTER_MS, OUTCOME_WAITED_FOR, type Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";
import { accountStopped } from "./account-stop.ts";
import type { LegNumber } from "./leg-number.ts";
import { type LostMovement, repeatsLost } from "./lost-movement.ts";
import { type PermitGate, refusalOfGate } from "./permit-gate.ts";

/** What is known about an account lock; a part that is not known yet gives no reason. */
export type HoldFacts = {
  readonly login: string;
  readonly gate?: PermitGate;
  readonly isStopped?: boolean;
  /** Equal to the withdrawal that the lock is for. */
  readonly lost?: LostMovement | undefined;
  /** Another lock owner has the account, or has claimed it. */
  readonly hasOwner?: boolean;
  /** A leg that has to end first. */
  readonly behind?: LegNumber | undefined;
  /** Its outcome is being determined. */
  readonly isOutcomeOpen?: boolean;
  /** The platform shows the account as its log has it. */
  readonly isReadable?: boolean;
};

/** Everything for which an account lock is not granted now. Hold answers the first reason. */
export function holdReasons(facts: HoldFacts): readonly Refusal[] {
  const {
    login,
    gate = "open",
    isStopped = false,
    lost,
    hasOwner = false,
    behind,
    isOutcomeOpen,
    isReadable = true,
  } = facts;
  const isBusy = hasOwner || behind !== undefined || !isReadable;
  const reasons = [
    refusalOfGate(gate),
    isStopped ? accountStopped(login) : undefined,
    lost === undefined ? undefined : repeatsLost(lost),
    isBusy ? accountBusy(behind, isOutcomeOpen) : undefined,
  ];
  return reasons.filter((reason) => reason !== undefined);
}

export function accountBusy(behind: LegNumber | undefined, isOutcomeOpen = false): Refusal {
  const operationId = behind === undefined ? undefined : String(behind);
  if (isOutcomeOpen) {
    return refuse("account_busy", OUTCOME_WAITED_FOR.message, { ...OUTCOME_WAITED_FOR.extra, operationId });
  }
  return refuse("account_busy", "Another movement on this account is in progress. Retry shortly.", {
    outcome: "not_executed",
    operationId,
    retryAfterMs: BUSY_RETRY_AFTER_MS,
  });
}
