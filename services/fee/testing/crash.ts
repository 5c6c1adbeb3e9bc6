import { type Crashing as CrashingProcess, crashingProcess } from "#kernel/testing/crash.ts";
import type { Deps } from "../deps.ts";
import { createWakeSignals } from "../service.ts";

export type Crashing = Pick<CrashingProcess, "crashed" | "stepsTaken"> & { readonly deps: Deps };

/** This service in a process that crashes after `steps` calls and statements. */
export function crashing(deps: Deps, steps: number): Crashing {
  const { pool, client, crashed, stepsTaken } = crashingProcess(deps.pool, steps);
  const others = {
    platform: client(deps.platform),
    accounts: client(deps.accounts),
    subscriptions: client(deps.subscriptions),
  };
  return { crashed, stepsTaken, deps: { ...deps, ...others, wakeSignals: createWakeSignals(), pool } };
}
