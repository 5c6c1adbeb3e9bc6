import { DAY_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { type FieldError, type Refusal, refusalsOf } from "#kernel/values/refusal.ts";

/** WANTED: the first try of a command that may wait. WAITING: it waits until its Master is flat. RUNNING: a later try. */
export type QueueState = "WANTED" | "WAITING" | "RUNNING";

/** The refusals of commands that wait; part of the refusals of every service that has some. */
export const { refuse, refusals: QUEUE_REFUSALS } = refusalsOf({
  operation_in_progress: "conflict",
  operation_not_cancellable: "conflict",
  cancelled: "conflict",
  expired: "conflict",
});

/** How long a command may wait until its Master is flat. */
export const MIN_QUEUE_MS = SECOND_MS;
export const MAX_QUEUE_MS = 30 * DAY_MS;

/** Refusals for which the first try waits: they are about trades of the Master, and pass when it is flat. */
const BLOCKED = new Set(["master_open_positions", "allocation_in_progress"]);
/** Refusals after which a later try may succeed, while no caller sends one. */
const TEMPORARY = new Set([...BLOCKED, "account_busy", "safety_stop", "platform_unavailable", "service_unavailable"]);

/** Whether a command waits after this refusal of its try. */
export function waitsAfter(state: QueueState | undefined, { code }: Refusal): boolean {
  return (state === "WANTED" && BLOCKED.has(code)) || (state === "RUNNING" && TEMPORARY.has(code));
}

export function queueErrors(queueForMs: bigint | undefined): readonly FieldError[] {
  if (queueForMs === undefined || (queueForMs >= MIN_QUEUE_MS && queueForMs <= MAX_QUEUE_MS)) return [];
  return [{ field: "expires_in", code: "out_of_range", message: "expires_in must be from PT1S to P30D." }];
}

/** How a command ends that has waited. Its answer names it where every request that repeats it gets the recorded one. */
export function expired(operationId?: string): Refusal {
  const message = "The operation has expired: the Master was not flat in time. Nothing was executed.";
  return refuse("expired", message, { outcome: "not_executed", operationId });
}

export function cancelled(operationId?: string): Refusal {
  const message = "The operation was cancelled while it waited. Nothing was executed.";
  return refuse("cancelled", message, { outcome: "not_executed", operationId });
}

/** Its first request lets it wait; the caller of this one does not expect the answer of one that waits. */
export function waitsForMaster(command: "unassign" | "withdrawal", operationId: string): Refusal {
  const message = `The ${command} waits until the Master is flat (${operationId}).`;
  return refuse("operation_in_progress", message, { outcome: "unknown", operationId });
}

export function notCancellable(operationId: string): Refusal {
  const message = "The operation does not wait: it was never queued, has begun or has ended.";
  return refuse("operation_not_cancellable", message, { operationId });
}
