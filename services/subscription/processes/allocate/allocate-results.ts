import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { lockMaster } from "../../store/masters.ts";
import { openLedger, saveLedger } from "./ledger.ts";

/** Splits the deals of a Master that wait, in their order, as far as its weeks are closed. True when there is more. */
export async function allocateResults(deps: Deps, login: string): Promise<boolean> {
  const hasMore = await inTransaction(deps.pool, async (tx) => {
    const master = await lockMaster(tx, login);
    if (master === undefined || master.stoppedReason !== null || !master.hasOpenGate) return false;
    const { ledger, end } = await openLedger(tx, deps, master, { through: master.filedNumber, reading: undefined });
    await saveLedger(tx, ledger);
    return end === "full";
  });
  failpoint("after_allocation");
  return hasMore;
}
