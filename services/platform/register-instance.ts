import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "./deps.ts";
import { readClock } from "./store/clock.ts";
import { insertSender, markHeartbeat, raiseLegNumbers } from "./store/senders.ts";

/** Registers this process: raises leg numbers above all used ones, and returns the epoch of its attempts. */
export async function registerInstance({ pool }: Pick<Deps, "pool">): Promise<Deps["sender"]> {
  const startedAtMs = await readClock(pool);
  await inTransaction(pool, (tx) => raiseLegNumbers(tx, startedAtMs));
  const epoch = await insertSender(pool);
  return { epoch, startedAtMs, gate: (await markHeartbeat(pool, epoch)) ?? "reading" };
}
