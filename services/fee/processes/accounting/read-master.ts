import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { afterCommit, inTransaction } from "#kernel/postgres/transaction.ts";
import { openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../../deps.ts";
import type { JournalBatch } from "../../domain/journal.ts";
import { insertBatch } from "../../store/journal.ts";
import {
  type FeeMaster,
  findMaster,
  insertMaster,
  lockMaster,
  moveReadNumber,
  stopMaster,
} from "../../store/masters.ts";
import { decideClosedWeek } from "./decide-closed-week.ts";
import { UnreadableJournal } from "../../messages/journal.ts";
import { readBatch, readPage } from "./read-batch.ts";
import { safetyStop } from "../../domain/safety-stop.ts";

/**
 * Reads a Master's allocations up to now into the journal, and decides each closed week in the transaction that records it.
 * Returns the number of the last entry. Safe in concurrent processes. Unreadable allocations stop the Master.
 */
export async function readMaster(deps: Deps, masterLogin: string, context: CallContext): Promise<bigint> {
  await insertMasterOnce(deps, masterLogin, context);
  for (;;) {
    const master = await getMaster(deps, masterLogin);
    try {
      const page = await readPage(deps, master, context);
      if (page === undefined) return master.readNumber;
      for (let rest = page; rest.length > 0;) {
        const batch = await readBatch(deps, masterLogin, rest, context);
        if (!(await recordBatch(deps, batch))) break;
        rest = rest.slice(batch.entries.length);
      }
    } catch (error) {
      throw error instanceof UnreadableJournal ? await stop(deps, master, error) : error;
    }
  }
}

/** The payment account of a Master never changes, so it is read from account once. */
async function insertMasterOnce(deps: Deps, login: string, context: CallContext): Promise<void> {
  if ((await findMaster(deps.pool, login)) !== undefined) return;
  const { paymentAccountLogin } = await deps.accounts.findMaster({ login }, queryContext(context));
  await insertMaster(deps.pool, login, paymentAccountLogin);
}

async function getMaster({ pool }: Deps, login: string): Promise<FeeMaster> {
  const master = await findMaster(pool, login);
  if (master === undefined || master.stoppedReason !== undefined) throw safetyStop(login, "unreadable");
  if (master.breakReason !== undefined) throw safetyStop(login, "break");
  return master;
}

/** False when another process has recorded entries or stopped the Master: the next page is read after the new last entry. */
async function recordBatch(deps: Deps, batch: JournalBatch): Promise<boolean> {
  return await inTransaction(deps.pool, async (tx) => {
    const { readNumber, stoppedReason, breakReason } = await lockMaster(tx, batch.masterLogin);
    if (readNumber !== batch.after || stoppedReason !== undefined || breakReason !== undefined) return false;
    const last = batch.entries.at(-1);
    if (last === undefined) return false;
    await insertBatch(tx, batch);
    await moveReadNumber(tx, batch.masterLogin, last.number);
    if (last.kind === "WEEK") {
      const holdings = batch.parts.filter(({ number }) => number === last.number);
      await decideClosedWeek(tx, { ...last, masterLogin: batch.masterLogin }, holdings, deps.now());
      afterCommit(tx, deps.wakeSignals.payments.notify);
    }
    return true;
  });
}

/** The review is opened in the commit that stops the Master. */
async function stop({ pool, log, now }: Deps, master: FeeMaster, error: UnreadableJournal): Promise<Error> {
  const { masterLogin: login, readNumber: number } = master;
  const why = error.message;
  await inTransaction(pool, async (tx) => {
    if (!(await stopMaster(tx, login, why))) return;
    await openCase(
      tx,
      {
        subject: `allocations:${login}`,
        reason: "allocations_unreadable",
        login,
        evidence: { why, read_number: String(number) },
        actions: ["read_again"],
      },
      now(),
    );
  });
  log.error("allocations not readable, fees of Master stopped, manual review required", { login, number, error });
  return safetyStop(login, "unreadable");
}
