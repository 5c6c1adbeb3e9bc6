import type { Refusal } from "#kernel/values/refusal.ts";
import { accountArchived, accountBusy, accountStopped, type Obstacle } from "./account-obstacles.ts";
import { type LostMovement, repeatsLost } from "./lost-movement.ts";
import { type PermitGate, refusalOfGate } from "./permit-gate.ts";

/** What is known about an account lock; a part that is not known yet gives no reason. */
export type HoldFacts = {
  readonly login: string;
  readonly gate?: PermitGate;
  readonly isStopped?: boolean;
  readonly isArchived?: boolean;
  /** Equal to the withdrawal that the lock is for. */
  readonly lost?: LostMovement | undefined;
  /** Another lock owner has the account, or waits for it. */
  readonly hasOwner?: boolean;
  /** A leg that has to end first. */
  readonly obstacle?: Obstacle | undefined;
  /** The platform shows the account as its log has it. */
  readonly isReadable?: boolean;
};

/** Everything for which an account lock is not granted now. Hold answers the first reason. */
export function holdReasons(facts: HoldFacts): readonly Refusal[] {
  const {
    login,
    gate = "open",
    isStopped = false,
    isArchived = false,
    lost,
    hasOwner = false,
    obstacle,
    isReadable = true,
  } = facts;
  const isBusy = hasOwner || obstacle !== undefined || !isReadable;
  const reasons = [
    refusalOfGate(gate),
    isStopped ? accountStopped(login) : undefined,
    isArchived ? accountArchived(login) : undefined,
    lost === undefined ? undefined : repeatsLost(lost),
    isBusy ? accountBusy(obstacle) : undefined,
  ];
  return reasons.filter((reason) => reason !== undefined);
}
