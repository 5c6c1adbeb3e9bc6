import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "./deps.ts";
import { WatchedClock } from "./domain/watched-clock.ts";
import { logGate } from "./protocol/log-gate.ts";
import { readClockTimed } from "./store/clock.ts";
import { insertSender, markHeartbeat, raiseLegNumbers } from "./store/senders.ts";

/** Registers this process: raises leg numbers above all used ones, and returns the epoch of its attempts. */
export async function registerInstance({ pool, log }: Pick<Deps, "pool" | "log">): Promise<Deps["sender"]> {
  const reading = await readClockTimed(pool);
  await inTransaction(pool, (tx) => raiseLegNumbers(tx, reading.databaseMs));
  const registered = await insertSender(pool);
  const found = await markHeartbeat(pool, registered.epoch);
  const gate = found?.gate ?? "reading";
  logGate(log, undefined, gate);
  return { ...registered, clock: new WatchedClock(reading), gate };
}
