/**
 * A permit is the right to write one command once. It is short, and checked on the monotonic clock right before the
 * write, so that a process that was paused between its commit and its write finds it spent.
 */
export const PERMIT_MS = 2_000;
/** Time from the check to the bytes being handed to the socket; generous, because it is one synchronous call. */
export const PERMIT_MARGIN_MS = 100;
/** A command that was written and not answered by then is lost. */
export const COMMAND_TIMEOUT_MS = 5_000;

/** `grantedAtMs` is read on the monotonic clock before the permit's transaction begins, so it never outlives the row. */
export function mayStillWrite(grantedAtMs: number, nowMs: number): boolean {
  const age = nowMs - grantedAtMs;
  return age >= 0 && age < PERMIT_MS - PERMIT_MARGIN_MS;
}

/** From here on the attempt counts as lost, whoever held the permit; its sender may still tell what it read. */
export function lostAfterMs(permitExpiresAtMs: number): number {
  return permitExpiresAtMs + COMMAND_TIMEOUT_MS;
}
