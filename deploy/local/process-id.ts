import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

/** When a process began, in ticks since boot; with it a pid is never taken for that of another process. Empty = gone. */
export function startOf(pid: number): string {
  try {
    // The name in parentheses may hold anything; what follows is a list of fields: state, parent, ...
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const [state] = fields;
    return state === "Z" || state === "X" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

/** Empty for a process that is not there. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Whether some process has the folder as its working directory. */
export function isWorkedIn(folder: string): boolean {
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      // It ended, or belongs to somebody else.
      return false;
    }
  });
}

/** Remembers a process in a file, so that a later run can find it. */
export function recordProcess(file: string, pid: number): void {
  writeFileSync(file, `${pid} ${startOf(pid)}\n`);
}

/** The process of that file, when it still runs. */
export function recordedProcess(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const [pid, start] = readFileSync(file, "utf8").trim().split(" ");
  return start !== undefined && start !== "" && startOf(Number(pid)) === start ? Number(pid) : undefined;
}
