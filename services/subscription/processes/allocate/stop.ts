import { randomUUID } from "node:crypto";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Stop } from "../../domain/books.ts";
import { PoolBroken } from "../../domain/pool/pool-broken.ts";
import { stopMaster } from "../../store/masters.ts";
import { recordStops } from "../review/record-stops.ts";

/** Stops a Master: no allocation and no money command runs on it until an operator has decided the review. */
export async function stop(tx: Transaction, { log, now }: Pick<Deps, "log" | "now">, stopped: Stop): Promise<void> {
  const { login, reason } = stopped;
  if (!(await stopMaster(tx, login, reason))) return;
  await recordStops(tx, [stopped], now());
  afterCommit(tx, () => log.error("Master stopped, manual review required", { login, reason }));
}

/**
 * Stops a Master whose pool could not be computed. Operators see the message of a `PoolBroken`; of any other error they see
 * an id, under which the log has the message and the stack.
 */
export async function stopForError(
  tx: Transaction,
  deps: Pick<Deps, "log" | "now">,
  error: unknown,
  { ticket, ...stopped }: Omit<Stop, "reason"> & { readonly ticket: bigint },
): Promise<void> {
  if (error instanceof PoolBroken) return await stop(tx, deps, { ...stopped, reason: error.message });
  const errorId = randomUUID();
  const { login } = stopped;
  await stop(tx, deps, { ...stopped, reason: `Internal error ${errorId}; see the log.` });
  afterCommit(tx, () =>
    deps.log.error("pool not computed, Master stopped", { login, ticket, error_id: errorId, error }),
  );
}
