import { readFileSync } from "node:fs";

/** When a process began, in ticks since boot: pid and start together identify a process. Empty = it has ended. */
export function startOf(pid: number): string {
  try {
    return startIn(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return "";
  }
}

/** Whether the process with this id is still the one that began then. */
export function isRunning(pid: number, start: string): boolean {
  return start !== "" && startOf(pid) === start;
}

/**
 * The start from the text of `/proc/<pid>/stat`. A process that was killed and is not collected yet has ended: its files and
 * ports are free. One whose first thread has ended keeps them until its last one has.
 */
export function startIn(stat: string): string {
  // The name in parentheses may contain any character; the fields state, parent, ... follow it.
  const fields = stat.split(") ").at(-1)?.split(" ") ?? [];
  const [state] = fields;
  const threads = Number(fields[17]);
  return (state === "Z" || state === "X") && threads <= 1 ? "" : (fields[19] ?? "");
}
