import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";
import type { OpenSubscription } from "./decide-assignment.ts";

export type Pair = Pick<OpenSubscription, "masterLogin" | "investorLogin">;

/** Why a subscription that is not ACTIVE cannot be left. */
export function unassignReasons({ id, status, ...pair }: OpenSubscription): readonly Refusal[] {
  if (status === "PAUSED") {
    const message = `${named(pair)} is already ending (subscription id ${id}).`;
    return [refuse("exit_in_progress", message, { outcome: "not_executed" })];
  }
  if (status === "CANCELLED") {
    const message = `${named(pair)} has ended (subscription id ${id}).`;
    return [refuse("subscription_not_active", message, { outcome: "not_executed" })];
  }
  return [];
}

export function neverAssigned({ masterLogin, investorLogin }: Pair): Refusal {
  const message = `Investor ${investorLogin} was never assigned to Master ${masterLogin}.`;
  return refuse("subscription_not_found", message, { outcome: "not_executed" });
}

/** Of one subscription one unassign waits. */
export function alreadyQueued(operationId: string): Refusal {
  const message = `An unassign of this subscription waits until the Master is flat (${operationId}).`;
  return refuse("operation_in_progress", message, { outcome: "not_executed", operationId });
}

function named({ masterLogin, investorLogin }: Pair): string {
  return `The subscription of Investor ${investorLogin} to Master ${masterLogin}`;
}
