import { vi } from "vitest";

/** A virtual machine may stand still for seconds. */
const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 20;

/** Repeats the check until it passes; fails with its last error. */
export function waitFor<T>(
  check: () => T | Promise<T>,
  options: { timeout?: number; interval?: number } = {},
): Promise<T> {
  return vi.waitFor(check, { timeout: TIMEOUT_MS, interval: INTERVAL_MS, ...options });
}
