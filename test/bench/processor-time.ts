import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

/**
 * Processor seconds used by a process, its descendants, and their descendants that have ended; unlike elapsed time,
 * independent of the load of the machine.
 */
export function processorSeconds(pid: number): number {
  return treeOf(pid).reduce((total, { ticks }) => total + ticks, 0) / TICKS_PER_SECOND;
}

/** Resident memory of one process in bytes; 0 when it has ended. */
export function residentBytes(pid: number): number {
  return (statOf(String(pid))?.residentPages ?? 0) * PAGE_BYTES;
}

type Stat = {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
  readonly residentPages: number;
};

function treeOf(pid: number): Stat[] {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []));
  const inTree = new Set([pid]);
  for (let size = 0; size !== inTree.size;) {
    size = inTree.size;
    for (const each of all) if (inTree.has(each.parent)) inTree.add(each.pid);
  }
  return all.filter((each) => inTree.has(each.pid));
}

/** Undefined when the process has ended. */
function statOf(pid: string): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may contain spaces: state, parent, ...; user and system time at 11 and 12, those of the
    // children that have ended at 13 and 14; resident pages at 21.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const ticks = [11, 12, 13, 14].reduce((total, index) => total + (fields[index] ?? 0), 0);
    return { pid: Number(pid), parent: fields[1] ?? 0, ticks, residentPages: fields[21] ?? 0 };
  } catch {
    return undefined;
  }
}
