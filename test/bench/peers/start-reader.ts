import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Contestant } from "../contest/contestant.ts";
import { endpointOf } from "../contest/service.ts";
import { databaseUrlOf } from "../system/database.ts";
import type { System } from "../system/start-system.ts";
import { startProcesses } from "./processes.ts";

/** The manager of `make run`. */
const MANAGER_LOGIN = "1000";

/** One process that reads the rows of the service itself, and balances from its trading platform. */
export async function startReader(system: System): Promise<Contestant> {
  const { folder } = system;
  const env = {
    DATABASE_URL: databaseUrlOf(system),
    MT5_URL: system.platformUrl,
    MT5_CA_FILE: join(folder, "state/simulator/ca.pem"),
    MT5_LOGIN: MANAGER_LOGIN,
    MT5_PASSWORD: secretOf(system, "mt5-password"),
    ENCRYPTION_KEY: secretOf(system, "encryption-key"),
    API_KEY: system.apiKey,
  };
  const processes = await startProcesses({ process: "one-process/reads.ts" }, env, join(folder, "reader.log"));
  const pids = system.processes();
  return {
    name: "one process",
    endpoint: { ...processes.endpoint, headers: endpointOf(system).headers },
    processes: () =>
      new Map([...processes.pids, ...["postgres", "simulator"].map((name) => [name, pids.get(name) ?? 0] as const)]),
    pause: () => processes.signal("SIGSTOP"),
    resume: () => Promise.resolve(processes.signal("SIGCONT")),
    deposits: [],
    books: () => Promise.resolve([]),
    findings: () => Promise.resolve([]),
    [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
  };
}

function secretOf({ folder }: System, name: string): string {
  return readFileSync(join(folder, "state/secret", name), "utf8").trim();
}
