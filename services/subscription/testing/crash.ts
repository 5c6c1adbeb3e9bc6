import { type Crashing as CrashingProcess, crashingProcess } from "#kernel/testing/crash.ts";
import type { Deps } from "../deps.ts";
import { createWakeSignals } from "../service.ts";

export type Crashing = Pick<CrashingProcess, "crashed" | "stepsTaken"> & { readonly deps: Deps };

/** The dependencies of this service in a process that crashes after `steps` steps. */
export function crashing(deps: Deps, steps: number): Crashing {
  const { pool, client, crashed, stepsTaken } = crashingProcess(deps.pool, steps);
  const others = {
    platform: client(deps.platform),
    accounts: client(deps.accounts),
    fees: client(deps.fees),
  };
  return { crashed, stepsTaken, deps: { ...deps, ...others, wakeSignals: createWakeSignals(), pool } };
}
