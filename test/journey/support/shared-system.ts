import { inject } from "vitest";
import { type RunningSystem, systemAt } from "./system.ts";

/** A test file that asks first waits until all processes are ready. */
export const START_TIMEOUT_MS = 180_000;

/** The system that test files share: use logins of your own, and change nothing that concerns the logins of others. */
export async function sharedSystem(): Promise<RunningSystem> {
  const response = await fetch(inject("sharedSystemUrl"));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return systemAt(text);
}
