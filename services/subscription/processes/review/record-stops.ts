import assert from "node:assert/strict";
import { formatMinor } from "#kernel/values/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { type NewCase, openCase } from "#kernel/review/cases.ts";
import type { Action } from "#catalogue/reviews.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import type { Stop } from "../../domain/books.ts";
import { onMaster } from "../../domain/buckets.ts";
import { findPoolLedger, type PoolLedger } from "../../store/pool-ledger.ts";
import { randomUUID } from "node:crypto";
import type { Deps } from "../../deps.ts";
import { type Master, stopMaster } from "../../store/masters.ts";
import { PoolBroken } from "../../domain/pool/unit-pool.ts";

/** Stops a Master: no allocation and no money command runs on it until an operator has decided the review. */
export async function stop(tx: Transaction, { log, now }: Pick<Deps, "log" | "now">, stopped: Stop): Promise<void> {
  const { login, reason } = stopped;
  if (!(await stopMaster(tx, login, reason))) return;
  await recordStops(tx, [stopped], now());
  afterCommit(tx, () => log.error("Master stopped, manual review required", { login, reason }));
}

/** `waitingDealId`: of the deal that was to be allocated. */
type Failed = Pick<Master, "login" | "filedDealId"> & { readonly waitingDealId?: bigint | undefined };

/**
 * Stops a Master whose pool could not be computed. Operators see the message of a `PoolBroken`; of any other error they see
 * an id, under which the log has the message and the stack.
 */
export async function stopForError(
  tx: Transaction,
  deps: Pick<Deps, "log" | "now">,
  error: unknown,
  { login, filedDealId, waitingDealId }: Failed,
): Promise<void> {
  const stopped = { login, account: login, dealId: waitingDealId ?? 0n, isWaitingDeal: waitingDealId !== undefined };
  if (error instanceof PoolBroken) return await stop(tx, deps, { ...stopped, reason: error.message });
  const errorId = randomUUID();
  const ticket = waitingDealId ?? filedDealId;
  await stop(tx, deps, { ...stopped, reason: `Internal error ${errorId}; see the log.` });
  afterCommit(tx, () =>
    deps.log.error("pool not computed, Master stopped", { login, ticket, error_id: errorId, error }),
  );
}

/** Prefix of the subjects of cases about a stopped Master, before its login. */
export const STOP = "stop:";

/** Opens a review in the commit that stops a Master, with the state of its books at that moment. */
export async function recordStops(tx: Transaction, stops: readonly Stop[], at: Date): Promise<void> {
  for (const stop of stops) {
    const ledger = await findPoolLedger(tx, stop.login);
    assert(ledger !== undefined, "only a Master with a pool is stopped");
    await openCase(tx, newCaseOf(stop, ledger), at);
  }
}

/** `account`: that with the fault, of the Master or of an Investor in its pool. `transfer`: the key of the one that moved a wrong amount. */
type Evidence = { readonly account?: string; readonly transfer?: string };

export function evidenceOfStop({ evidence }: ReviewCase): Evidence {
  return JSON.parse(evidence) as Evidence;
}

function newCaseOf(stop: Stop, ledger: PoolLedger): NewCase {
  const { login, reason, account, dealId, transferKey } = stop;
  return {
    subject: `${STOP}${login}`,
    reason: "stopped",
    login,
    dealId,
    evidence: { why: reason, account, transfer: transferKey, deal_id: String(dealId), pool: totalsOf(ledger) },
    actions: actionsOf(stop),
  };
}

/** A transfer with a wrong amount would stay open forever if the Master was only resumed. */
function actionsOf({ isWaitingDeal, transferKey }: Stop): readonly Action[] {
  if (transferKey !== undefined) return ["transfer_again"];
  const always: readonly Action[] = ["resume", "resume_with_difference"];
  return isWaitingDeal ? [...always, "allocate_deal"] : always;
}

/** The balance of the Master expected by the books, and its parts. */
function totalsOf({ filedNumber, own, imported, unallocated, holdings }: PoolLedger) {
  const investors = holdings.reduce((total, holding) => total + onMaster(holding), 0n);
  return {
    filed_log_number: String(filedNumber),
    expected_master_balance: formatMinor(investors + own + imported + unallocated),
    of_investors: formatMinor(investors),
    own_capital: formatMinor(own),
    imported: formatMinor(imported),
    unallocated: formatMinor(unallocated),
    holdings: String(holdings.length),
  };
}
