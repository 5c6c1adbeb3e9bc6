import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "#kernel/startup-error.ts";
import { startOf } from "./process-id.ts";

const POLL_MS = 50;
/** It may have been told already, by our death, and be writing what it holds. */
const PATIENCE_MS = 20_000;
const LAST_PATIENCE_MS = 2_000;

/** Ends a process that is not our child: the signal, then SIGKILL when it was not enough. */
export async function stopProcess(pid: number, signal: NodeJS.Signals): Promise<void> {
  const start = startOf(pid);
  const isRunning = (): boolean => start !== "" && startOf(pid) === start;
  for (const [sent, patienceMs] of [
    [signal, PATIENCE_MS],
    ["SIGKILL", LAST_PATIENCE_MS],
  ] as const) {
    if (isRunning()) process.kill(pid, sent);
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(POLL_MS)) {
      if (!isRunning()) return;
    }
  }
  throw new StartupError(`process ${pid} of an earlier run does not end: end it by hand`);
}
