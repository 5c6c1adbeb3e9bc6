import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "./deps.ts";
import { readClock } from "./store/clock.ts";
import { insertSender, raiseOperationNumbers } from "./store/senders.ts";

/** Records this process: operation numbers that were never used, and an epoch for the attempts that it sends. */
export async function registerInstance({ pool }: Pick<Deps, "pool">): Promise<Deps["sender"]> {
  const startedAtMs = await readClock(pool);
  await inTransaction(pool, (tx) => raiseOperationNumbers(tx, startedAtMs));
  return { epoch: await insertSender(pool), startedAtMs };
}
