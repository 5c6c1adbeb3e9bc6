import { type Crashing as CrashingProcess, crashingProcess } from "#kernel/testing/crash.ts";
import { createWakeSignals, type Deps } from "../deps.ts";
import { departureCommits } from "../store/departure-commits.ts";
import { accountReads } from "../store/account-reads.ts";

export type Crashing = Pick<CrashingProcess, "crashed" | "pointsPassed"> & { readonly deps: Deps };

/** The dependencies of this service in a process that crashes after `points` crash points. */
export function crashing(deps: Deps, points: number): Crashing {
  const { pool, client, crashed, pointsPassed } = crashingProcess(deps.pool, points);
  const others = {
    platform: client(deps.platform),
    accounts: client(deps.accounts),
    fees: client(deps.fees),
  };
  const stores = { pool, accountReads: accountReads(pool), departureCommits: departureCommits(pool, deps.now) };
  const own = { ...stores, wakeSignals: createWakeSignals() };
  return { crashed, pointsPassed, deps: { ...deps, ...others, ...own } };
}
