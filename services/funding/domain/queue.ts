import { DAY_MS, SECOND_MS } from "#kernel/duration.ts";
import type { Refusal, FieldError } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/**
 * WANTED: the first try of a withdrawal that may wait. WAITING: it waits until the Master is flat. RUNNING: a try of the queue. The state
 * in which it has ended stays.
 */
export type QueueState = "WANTED" | "WAITING" | "RUNNING";

/** Of a withdrawal whose caller lets it wait until the Master is flat. */
export type Queue = {
  readonly state: QueueState;
  /** It is executed by then, or not at all. */
  readonly until: Date;
};

const MIN_QUEUE_MS = BigInt(SECOND_MS);
const MAX_QUEUE_MS = BigInt(30 * DAY_MS);
/** Withdrawals of one Investor that wait at the same time. */
export const MAX_WAITING_OF_INVESTOR = 20;

/** Refusals for which the first try waits: they are about trades of the Master, and pass when it is flat. */
const BLOCKED = new Set(["master_open_positions", "allocation_in_progress"]);
/** Refusals after which a later try may succeed, while no caller sends one. */
const TEMPORARY = new Set([...BLOCKED, "account_busy", "safety_stop", "platform_unavailable", "service_unavailable"]);

/** Whether an operation waits after this refusal. */
export function waitsAfter(queue: Queue | undefined, { code }: Refusal): boolean {
  switch (queue?.state) {
    case "WANTED":
      return BLOCKED.has(code);
    case "RUNNING":
      return TEMPORARY.has(code);
    default:
      return false;
  }
}

export function queueErrors(queueForMs: bigint | undefined): readonly FieldError[] {
  if (queueForMs === undefined || (queueForMs >= MIN_QUEUE_MS && queueForMs <= MAX_QUEUE_MS)) return [];
  return [{ field: "expires_in", code: "out_of_range", message: "expires_in must be from PT1S to P30D." }];
}

/** How an operation ends that has waited: its answer names it, because every request that repeats it gets the same one. */
export function expired(operationId: string): Refusal {
  const message = "The operation has expired: the Master was not flat in time. Nothing was executed.";
  return refuse("expired", message, { outcome: "not_executed", operationId });
}

export function cancelled(operationId: string): Refusal {
  const message = "The operation was cancelled while it waited. Nothing was executed.";
  return refuse("cancelled", message, { outcome: "not_executed", operationId });
}

export function tooManyQueued(): Refusal {
  const message = `The Investor has ${MAX_WAITING_OF_INVESTOR} withdrawals that wait. Cancel one, or retry when the Master is flat.`;
  return refuse("too_many_queued", message, { outcome: "not_executed" });
}

export function notCancellable(operationId: string): Refusal {
  const message = "The operation does not wait: it was never queued, has begun or has ended.";
  return refuse("operation_not_cancellable", message, { operationId });
}
