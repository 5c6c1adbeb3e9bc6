import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** Processor seconds used by a process and its descendants; unlike elapsed time, independent of the load of the machine. */
export function processorSeconds(pid: number): number {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []));
  const inTree = new Set([pid]);
  for (let size = 0; size !== inTree.size;) {
    size = inTree.size;
    for (const each of all) if (inTree.has(each.parent)) inTree.add(each.pid);
  }
  return all.filter((each) => inTree.has(each.pid)).reduce((total, { ticks }) => total + ticks, 0) / TICKS_PER_SECOND;
}

/** Undefined when the process has ended. */
function statOf(pid: string): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may contain spaces: state, parent, ..., and user and system time at 12 and 13.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}
