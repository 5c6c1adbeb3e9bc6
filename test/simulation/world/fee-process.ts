import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { Implementation } from "../../../services/kernel/contract/contract.ts";
import type { Log } from "../../../services/kernel/process/log.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { Deps } from "../../../services/fee/deps.ts";
import { feeQueues } from "../../../services/fee/queues.ts";
import { createWakeSignals, feeJobs, feeService } from "../../../services/fee/service.ts";
import type { SimulatedProcess } from "./process.ts";

export type FeeParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly log: Log;
  /** Clients of other services. */
  readonly others: Pick<Deps, "accounts" | "subscriptions" | "platform">;
};

/** A process of the fee service, as other processes can call it. */
export type FeeProcess = {
  readonly process: SimulatedProcess;
  readonly service: Implementation<FeeServiceService>;
};

/** The counterpart of services/fee/main.ts. */
export async function startFeeProcess({ process, pool, log, others }: FeeParts): Promise<FeeProcess> {
  const needs = { pool, ...others, log, now: () => new Date() };
  const deps: Deps = { ...needs, queues: feeQueues(needs), wakeSignals: createWakeSignals() };
  feeJobs(deps);
  return { process, service: feeService(deps) };
}
