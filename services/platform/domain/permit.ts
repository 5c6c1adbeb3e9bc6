/**
 * A permit is the right to write one command once, in milliseconds. It is checked on the monotonic clock right before the
 * write, so that a process that was paused between its commit and its write finds it expired.
 */
export const PERMIT_MS = 2_000;
/** Upper limit of the time from the check until the socket has the bytes, which is one synchronous call. */
export const PERMIT_MARGIN_MS = 100;
/** A command that was written and not answered within this time is lost, unless another time is configured. */
export const COMMAND_TIMEOUT_MS = 5_000;

/** `grantedAtMs` is read on the monotonic clock before the transaction of the permit begins, so the permit expires before its row. */
export function mayStillWrite(grantedAtMs: number, nowMs: number): boolean {
  const age = nowMs - grantedAtMs;
  return age >= 0 && age < PERMIT_MS - PERMIT_MARGIN_MS;
}

/** From this time on the attempt counts as lost; its sender may still report the answer that it read. */
export function lostAfterMs(permitExpiresAtMs: number, commandTimeoutMs: number): number {
  return permitExpiresAtMs + commandTimeoutMs;
}
