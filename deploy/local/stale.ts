import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "#kernel/startup-error.ts";

const POLL_MS = 50;
/** A server that was told to stop by our death may still be writing. */
const PATIENCE_MS = 15_000;
const LAST_PATIENCE_MS = 2_000;

/**
 * A server of an earlier run that outlived it is stopped before its data is touched. The pid alone proves nothing, since
 * numbers are used again: its command line must name `mark`.
 */
export async function stopStale(pidFile: string, mark: string, signal: NodeJS.Signals): Promise<void> {
  const pid = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, "utf8"), 10) : 0;
  const isOurs = (): boolean => pid > 0 && commandLineOf(pid).includes(mark);
  if (!isOurs()) return;
  for (const [sent, patienceMs] of [
    [signal, PATIENCE_MS],
    ["SIGKILL", LAST_PATIENCE_MS],
  ] as const) {
    sendSignal(pid, sent);
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(POLL_MS)) {
      if (!isOurs()) return;
    }
  }
  throw new StartupError(`process ${pid} of an earlier run does not end; end it by hand`);
}

/** Empty for a process that is not there. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
}
