import { readFileSync } from "node:fs";
import type { System } from "./start-system.ts";

/** The variables that a process of the system was started with. Throws when it does not run. */
export function environmentOf({ processes }: Pick<System, "processes">, name: string): Record<string, string> {
  return environmentOfProcess(name, processes().get(name));
}

export function environmentOfProcess(name: string, pid: number | undefined): Record<string, string> {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const lines = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  return Object.fromEntries(
    lines
      .filter((line) => line.includes("="))
      .map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      }),
  );
}
