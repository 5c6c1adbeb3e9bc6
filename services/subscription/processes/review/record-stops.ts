import assert from "node:assert/strict";
import { formatDecimal, usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { openCase, type Question } from "#kernel/review/cases.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import type { Stop } from "../../domain/books.ts";
import { onMaster } from "../../domain/buckets.ts";
import { findPoolLedger, type PoolLedger } from "../../store/pool-ledger.ts";

/** Begins the subject of every case about a stopped Master; its login follows. */
export const STOP = "stop:";

/** People are asked in the commit that stops a Master, with what its books said at that moment. */
export async function recordStops(tx: Transaction, stops: readonly Stop[], at: Date): Promise<void> {
  for (const stop of stops) {
    const ledger = await findPoolLedger(tx, stop.login);
    assert(ledger !== undefined, "only what has a pool is stopped");
    await openCase(tx, questionOf(stop, ledger), at);
  }
}

/** The Master's own account, or that of the Investor on which it showed. */
export function accountOfStop({ login, evidence }: ReviewCase): string {
  const { account } = JSON.parse(evidence) as Evidence;
  return account ?? login;
}

/** Our transfer that moved another amount; empty when it is about none. */
export function transferOfStop({ evidence }: ReviewCase): string {
  const { transfer } = JSON.parse(evidence) as Evidence;
  return transfer ?? "";
}

type Evidence = { readonly account?: string; readonly transfer?: string };

function questionOf(stop: Stop, ledger: PoolLedger): Question {
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

/** A transfer that has moved another amount would hang for ever if the Master just went on. */
function actionsOf({ isWaitingDeal, transferKey }: Stop): string[] {
  if (transferKey !== undefined) return ["transfer_again"];
  return ["resume", "resume_with_difference", ...(isWaitingDeal ? ["allocate_deal"] : [])];
}

/** What the Master has to show by the books, and of what it consists. */
function totalsOf({ filedNumber, external, unallocated, suspense, holdings }: PoolLedger) {
  const investors = holdings.reduce((total, holding) => total + onMaster(holding.buckets), 0n);
  return {
    filed_log_number: String(filedNumber),
    expected_master_balance: text(investors + external + unallocated + suspense),
    of_investors: text(investors),
    external: text(external),
    not_split: text(unallocated),
    of_nobody: text(suspense),
    holdings: String(holdings.length),
  };
}

function text(minor: bigint): string {
  return formatDecimal(usd(minor));
}
