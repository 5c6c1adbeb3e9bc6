import { DAY_MS, SECOND_MS } from "#kernel/duration.ts";
import type { FieldError, Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** WANTED: the first try of an unassign that may wait. WAITING: it waits until the Master is flat. RUNNING: a later try. */
export type QueueState = "WANTED" | "WAITING" | "RUNNING" | "ENDED";

const MIN_QUEUE_MS = BigInt(SECOND_MS);
const MAX_QUEUE_MS = BigInt(30 * DAY_MS);

/** Refusals for which the first try waits: they are about trades of the Master, and pass when it is flat. */
const BLOCKED = new Set(["master_open_positions", "allocation_in_progress"]);
/** Refusals after which a later try may succeed, while no caller sends one. */
const TEMPORARY = new Set([...BLOCKED, "account_busy", "safety_stop", "platform_unavailable", "service_unavailable"]);

/** Whether an unassign of the queue waits after this refusal of its first try, or of a later one. */
export function waitsAfter(state: "WANTED" | "RUNNING", { code }: Refusal): boolean {
  return (state === "WANTED" ? BLOCKED : TEMPORARY).has(code);
}

export function queueError(queueForMs: bigint | undefined, commandId: string): FieldError | undefined {
  if (queueForMs === undefined) return undefined;
  if (commandId === "") return { field: "command_id", code: "required", message: "command_id is required to wait." };
  if (queueForMs >= MIN_QUEUE_MS && queueForMs <= MAX_QUEUE_MS) return undefined;
  return { field: "expires_in", code: "out_of_range", message: "expires_in must be from PT1S to P30D." };
}

/** How an unassign ends that has waited. */
export function expired(): Refusal {
  const message = "The operation has expired: the Master was not flat in time. Nothing was executed.";
  return refuse("expired", message, { outcome: "not_executed" });
}

export function cancelled(): Refusal {
  const message = "The operation was cancelled while it waited. Nothing was executed.";
  return refuse("cancelled", message, { outcome: "not_executed" });
}

/** Of one subscription one unassign waits. */
export function alreadyQueued(operationId: string): Refusal {
  const message = `An unassign of this subscription waits until the Master is flat (${operationId}).`;
  return refuse("operation_in_progress", message, { outcome: "not_executed", operationId });
}

/** Its first request lets it wait; the caller of this one does not expect the answer of one that waits. */
export function waitsForMaster(operationId: string): Refusal {
  const message = `The unassign waits until the Master is flat (${operationId}).`;
  return refuse("operation_in_progress", message, { outcome: "unknown", operationId });
}

export function notCancellable(operationId: string): Refusal {
  const message = "The operation does not wait: it was never queued, has begun or has ended.";
  return refuse("operation_not_cancellable", message, { operationId });
}
