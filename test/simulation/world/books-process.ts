import { createBell } from "../../../services/kernel/bell.ts";
import { consumeFeed } from "../../../services/kernel/feed/consume.ts";
import type { Log } from "../../../services/kernel/log.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import { fileAccountMovement } from "../../../services/subscription/events/file-account-movement.ts";
import { createBells } from "../../../services/subscription/service.ts";
import type { Broker, Subscriber } from "./broker.ts";
import type { SimulatedProcess } from "./process.ts";

export type BooksParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly log: Log;
  /** Told by a broker and reading what that lost, or reading alone: both have to end with the same books. */
  readonly arrival: "pushed" | "polled";
  readonly read: (request: ReadRequest) => Promise<ReadResponse>;
};

/** The consumer of `subscription` for the movements of all accounts, with its real filing. */
export async function startBooksProcess({ process, pool, broker, log, arrival, read }: BooksParts): Promise<void> {
  const filing = fileAccountMovement({ log, now: () => new Date(), bells: { ...createBells(), gaps: createBell() } });
  const consumer = await consumeFeed({ ...filing, pool, read, arrival, log });
  if (arrival === "polled") return;
  const subscriber: Subscriber = {
    deliver: (entries) =>
      new Promise((resolve, reject) => {
        process.deliver(undefined, "brought", () => {
          process.run(() => void consumer.deliver(entries).then(resolve, reject));
        });
      }),
    wake: (lastNumber) => process.deliver(undefined, "nudged", () => process.run(() => consumer.wake(lastNumber))),
  };
  const subscription = broker.subscribe(subscriber);
  process.whenDead(() => subscription[Symbol.dispose]());
}
