import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Stop } from "../../domain/books.ts";
import { stopMaster } from "../../store/masters.ts";
import { recordStops } from "../review/record-stops.ts";

/** Nothing goes on at a Master until a person has looked: better late than wrong. */
export async function stop(tx: Transaction, { log, now }: Pick<Deps, "log" | "now">, stopped: Stop): Promise<void> {
  const { login, reason } = stopped;
  if (!(await stopMaster(tx, login, reason))) return;
  await recordStops(tx, [stopped], now());
  afterCommit(tx, () => log.error("a Master is stopped until a person has looked", { login, reason }));
}
