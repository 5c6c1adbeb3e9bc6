import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning, startOf } from "#kernel/process/process-start.ts";
import { StartupError } from "#kernel/process/startup-error.ts";

const STOP_POLL_MS = 50;
/** A process whose launcher has ended may already be stopping, and write its data. */
const STOP_TIMEOUT_MS = 20_000;
/** A killed process ends at once, unless it waits for a disk. */
const KILL_TIMEOUT_MS = 2_000;

/** Empty for a process that does not exist. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Whether the folder is the working directory of a process. */
export function isWorkingDirectory(folder: string): boolean {
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      // The process ended, or belongs to another user.
      return false;
    }
  });
}

/** Records a process in a file, so that a later run can find it. */
export function recordProcess(file: string, pid: number): void {
  writeFileSync(file, `${pid} ${startOf(pid)}\n`);
}

/** The process of that file, when it still runs. */
export function recordedProcess(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const [pid, start = ""] = readFileSync(file, "utf8").trim().split(" ");
  return isRunning(Number(pid), start) ? Number(pid) : undefined;
}

/** Ends a process that is not a child of this one: first by the signal, then by SIGKILL. */
export async function stopProcess(pid: number, signal: NodeJS.Signals): Promise<void> {
  const start = startOf(pid);
  for (const [sent, timeoutMs] of [
    [signal, STOP_TIMEOUT_MS],
    ["SIGKILL", KILL_TIMEOUT_MS],
  ] as const) {
    if (isRunning(pid, start)) process.kill(pid, sent);
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(STOP_POLL_MS)) {
      if (!isRunning(pid, start)) return;
    }
  }
  throw new StartupError(`process ${pid} of an earlier run still runs after SIGKILL: end it, then start again`);
}
