import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "#kernel/startup-error.ts";

const STOP_POLL_MS = 50;
/** A process whose launcher has ended may already be stopping, and write its data. */
const STOP_TIMEOUT_MS = 20_000;
/** A killed process ends at once, unless it waits for a disk. */
const KILL_TIMEOUT_MS = 2_000;

/** When a process began, in ticks since boot: pid and start together identify a process. Empty = it has ended. */
export function startOf(pid: number): string {
  try {
    return startIn(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return "";
  }
}

/** The same from the text of `/proc/<pid>/stat`. A process whose first thread has ended keeps its ports until its last one has. */
export function startIn(stat: string): string {
  // The name in parentheses may contain any character; the fields state, parent, ... follow it.
  const fields = stat.split(") ").at(-1)?.split(" ") ?? [];
  const [state] = fields;
  const threads = Number(fields[17]);
  return (state === "Z" || state === "X") && threads <= 1 ? "" : (fields[19] ?? "");
}

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
  const [pid, start] = readFileSync(file, "utf8").trim().split(" ");
  return start !== undefined && start !== "" && startOf(Number(pid)) === start ? Number(pid) : undefined;
}

/** Ends a process that is not a child of this one: first by the signal, then by SIGKILL. */
export async function stopProcess(pid: number, signal: NodeJS.Signals): Promise<void> {
  const start = startOf(pid);
  const isRunning = (): boolean => start !== "" && startOf(pid) === start;
  for (const [sent, timeoutMs] of [
    [signal, STOP_TIMEOUT_MS],
    ["SIGKILL", KILL_TIMEOUT_MS],
  ] as const) {
    if (isRunning()) process.kill(pid, sent);
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(STOP_POLL_MS)) {
      if (!isRunning()) return;
    }
  }
  throw new StartupError(`process ${pid} of an earlier run still runs after SIGKILL: end it, then start again`);
}
