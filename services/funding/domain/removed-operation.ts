import { DAY_MS, parseDuration } from "#kernel/duration.ts";

/** The rule that removes operations. */
export const OPERATIONS = "operations";
/** Above every age of an idempotency key, so that a repeated command finds its operation. */
export const MIN_KEPT = "P400D";
/** The edge, the database and this process may have different clocks. */
const MAX_CLOCK_DIFFERENCE_MS = DAY_MS;

/** A UUID of version 7 begins with its time: 48 bits of milliseconds since 1970. */
const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** When the edge gave the id to a request, in milliseconds since 1970; undefined when it did not. */
export function requestedAtMs(operationId: string): number | undefined {
  const [, high, low] = UUID_7.exec(operationId) ?? [];
  return high === undefined ? undefined : Number.parseInt(`${high}${low}`, 16);
}

/** Whether an operation may be removed already, whatever the setting is and was. */
export function isOldEnough(requestedMs: number, now: Date): boolean {
  return requestedMs < now.getTime() - (parseDuration(MIN_KEPT) ?? 0) + MAX_CLOCK_DIFFERENCE_MS;
}

/** Whether an operation that is not recorded may have been recorded once. */
export function mayBeRemoved(requestedMs: number, removedBefore: Date | undefined): boolean {
  return removedBefore !== undefined && requestedMs < removedBefore.getTime() + MAX_CLOCK_DIFFERENCE_MS;
}
