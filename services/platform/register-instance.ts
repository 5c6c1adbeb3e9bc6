import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "./deps.ts";
import { WatchedClock } from "./domain/watched-clock.ts";
import { readClockTimed } from "./store/clock.ts";
import { insertSender, markHeartbeat, raiseLegNumbers } from "./store/senders.ts";

/** Registers this process: raises leg numbers above all used ones, and returns the epoch of its attempts. */
export async function registerInstance({ pool }: Pick<Deps, "pool">): Promise<Deps["sender"]> {
  const reading = await readClockTimed(pool);
  await inTransaction(pool, (tx) => raiseLegNumbers(tx, reading.databaseMs));
  const registered = await insertSender(pool);
  const found = await markHeartbeat(pool, registered.epoch);
  return { ...registered, clock: new WatchedClock(reading), gate: found?.gate ?? "reading" };
}
