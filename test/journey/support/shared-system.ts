import { madePath, type RunningSystem, systemAt } from "./system.ts";

/** The first test file waits until all processes are ready. */
export const START_TIMEOUT_MS = 180_000;

/** The system that test files share: each test uses logins of its own and changes no shared setting. */
export async function sharedSystem(): Promise<RunningSystem> {
  return systemAt(await madePath("/system"));
}
