import { type Crashing as CrashingProcess, crashingProcess } from "#kernel/testing/crash.ts";
import type { Deps } from "../deps.ts";
import { createWakeSignals } from "../service.ts";
import { withQueues } from "./fee.ts";

export type Crashing = Pick<CrashingProcess, "crashed" | "pointsPassed"> & { readonly deps: Deps };

/** The dependencies of this service in a process that crashes after `points` crash points. */
export function crashing(deps: Deps, points: number): Crashing {
  const { pool, client, crashed, pointsPassed } = crashingProcess(deps.pool, points);
  const others = {
    platform: client(deps.platform),
    accounts: client(deps.accounts),
    subscriptions: client(deps.subscriptions),
  };
  return { crashed, pointsPassed, deps: withQueues({ ...deps, ...others, wakeSignals: createWakeSignals(), pool }) };
}
