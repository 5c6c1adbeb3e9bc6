import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { stopMaster } from "../../store/masters.ts";
import { tellStopped } from "../tell-pools.ts";

/** Nothing goes on at a Master until a person has looked: better late than wrong. */
export async function stop(tx: Transaction, { log }: Pick<Deps, "log">, login: string, reason: string): Promise<void> {
  if (!(await stopMaster(tx, login, reason))) return;
  await tellStopped(tx, [{ login, reason }]);
  afterCommit(tx, () => log.error("a Master is stopped until a person has looked", { login, reason }));
}
