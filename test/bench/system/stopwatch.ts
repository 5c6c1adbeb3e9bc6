import type { Usage } from "../limit-of.ts";
import { processorSeconds } from "../processor-time.ts";
import type { System } from "./start-system.ts";

/** Measures from now on; `read` returns what was used so far. Processes that were killed meanwhile are left out. */
export function startStopwatch({ processes }: Pick<System, "processes">): { readonly read: () => Usage } {
  const startedMs = performance.now();
  const before = new Map(Array.from(processes(), ([name, pid]) => [name, { pid, seconds: processorSeconds(pid) }]));
  return {
    read() {
      const used = Array.from(processes(), ([name, pid]) => {
        const first = before.get(name);
        return [name, first?.pid === pid ? processorSeconds(pid) - first.seconds : 0] as const;
      });
      return { seconds: (performance.now() - startedMs) / 1_000, used: new Map(used) };
    },
  };
}
