import { DAY_MS, parseDuration } from "#kernel/duration.ts";

/** The rule that removes operations. */
export const OPERATIONS = "operations";
/** Above every age of an idempotency key, so that a repeated command finds its operation. */
export const MIN_KEPT = "P400D";
/** The edge, the database and this process may have different clocks. */
const MAX_CLOCK_DIFFERENCE_MS = DAY_MS;

/** Whether an operation may be removed already, whatever the setting is and was. */
export function isOldEnough(requestedAt: Date, now: Date): boolean {
  return requestedAt.getTime() < now.getTime() - (parseDuration(MIN_KEPT) ?? 0) + MAX_CLOCK_DIFFERENCE_MS;
}

/** Whether an operation that is not recorded may have been recorded once. */
export function mayBeRemoved(requestedAt: Date, removedBefore: Date | undefined): boolean {
  return removedBefore !== undefined && requestedAt.getTime() < removedBefore.getTime() + MAX_CLOCK_DIFFERENCE_MS;
}
