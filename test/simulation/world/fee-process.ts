import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { Implementation } from "../../../services/kernel/contract/contract.ts";
import { consumeFeed } from "../../../services/kernel/feed/consume.ts";
import type { Log } from "../../../services/kernel/log.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { Deps } from "../../../services/fee/deps.ts";
import { receiveAllocations } from "../../../services/fee/events/receive-allocations.ts";
import { feeQueues } from "../../../services/fee/queues.ts";
import { createWakeSignals, feeJobs, feeService } from "../../../services/fee/service.ts";
import type { Broker } from "./broker.ts";
import type { SimulatedProcess } from "./process.ts";

export type FeeParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly log: Log;
  /** Clients of other services. */
  readonly others: Pick<Deps, "accounts" | "subscriptions" | "platform">;
  /** Reads the feed of allocations. */
  readonly read: (request: ReadRequest) => Promise<ReadResponse>;
};

/** A process of the fee service, as other processes can call it. */
export type FeeProcess = {
  readonly process: SimulatedProcess;
  readonly service: Implementation<FeeServiceService>;
};

/** A week of a simulated pool is decided in several transactions. */
const SMALL_STEPS = { holdings: 2, results: 3 };

/** The counterpart of services/fee/main.ts. */
export async function startFeeProcess(parts: FeeParts): Promise<FeeProcess> {
  const { process, pool, broker, log, others, read } = parts;
  const needs = { pool, ...others, log, now: () => new Date(), steps: SMALL_STEPS };
  const deps: Deps = { ...needs, queues: feeQueues(needs), wakeSignals: createWakeSignals() };
  const consumer = await consumeFeed({ ...receiveAllocations(deps), pool, read, log });
  const signals = broker.subscribe({
    feed: consumer.feed,
    catchUp: () => Promise.resolve(),
    wake: (lastNumber) => process.deliver(undefined, "signalled", () => consumer.wake(lastNumber)),
  });
  process.whenCrashed(() => signals[Symbol.dispose]());
  feeJobs(deps);
  return { process, service: feeService(deps) };
}
