import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type AccountMoved, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { jobContext } from "../processes/job-context.ts";
import { type Mismatch, stopForBreak } from "../processes/stop-for-break.ts";
import type { Deps } from "../deps.ts";
import { listMastersOfAccounts } from "../store/masters.ts";
import {
  insertSeenAccount,
  listPaymentAccountsFrom,
  moveSeenNumber,
  type SeenAccount,
} from "../store/payment-accounts.ts";

/** Accounts of one question; platform answers as many. */
const ACCOUNTS_PER_PAGE = 1_000;
/** A million Masters; who is behind them is looked at by the breaks all the same. */
const MAX_PAGES = 1_000;
const ENTRIES_PER_READ = 1_000;
/** Of one account and round: each fee is an entry, and the others wait meanwhile. */
const READS_PER_ROUND = 20;
const ASK_MS = 5_000;

/**
 * Looks through what came to the logs of payment accounts. A deal of ours that is gone, changed or one too many is told there
 * as soon as it is known, and stops the fees of its Master before a check comes to it.
 */
export async function watchPaymentAccounts(deps: Deps): Promise<boolean> {
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const accounts = await listPaymentAccountsFrom(deps.pool, after, ACCOUNTS_PER_PAGE);
    if (accounts.length > 0) await lookAt(deps, accounts);
    const last = accounts.at(-1);
    if (last === undefined || accounts.length < ACCOUNTS_PER_PAGE) return false;
    after = last.login;
  }
  return false;
}

async function lookAt(deps: Deps, accounts: readonly SeenAccount[]): Promise<void> {
  const positions = accounts.map(({ login, seenNumber }) => ({ login, number: seenNumber ?? 0n }));
  const { balances } = await deps.platform.readLogBalances({ positions }, jobContext(ASK_MS));
  const ends = new Map(balances.map(({ login, lastNumber }) => [login, lastNumber]));
  for (const { login, seenNumber } of accounts) {
    const end = ends.get(login);
    // What was told before fee knew the account is a break for as long as nobody has decided about it.
    if (seenNumber === undefined && end !== undefined) await insertSeenAccount(deps.pool, login, end);
    if (seenNumber !== undefined && end !== undefined && end > seenNumber) await lookThrough(deps, login, seenNumber);
  }
}

async function lookThrough(deps: Deps, login: string, seenNumber: bigint): Promise<void> {
  let from = seenNumber;
  for (let read = 0; read < READS_PER_ROUND; read += 1) {
    const asked = { login, afterNumber: from, limit: ENTRIES_PER_READ };
    const { entries } = await deps.platform.readLog(asked, jobContext(ASK_MS));
    const to = entries.at(-1)?.number;
    if (to === undefined || !(await heed(deps, { login, from, to }, entries))) return;
    if (entries.length < ENTRIES_PER_READ) return;
    from = to;
  }
}

type Step = { readonly login: string; readonly from: bigint; readonly to: bigint };

/** The place moves in the commit that stops, so nothing is passed by and nothing stops twice. */
async function heed(deps: Deps, step: Step, entries: readonly AccountMoved[]): Promise<boolean> {
  const irregular = entries.filter(({ kind }) => kind === MovementKind.AMENDMENT);
  return await inTransaction(deps.pool, async (tx) => {
    if (!(await moveSeenNumber(tx, step))) return false;
    if (irregular.length === 0) return true;
    for (const master of await listMastersOfAccounts(tx, [step.login])) {
      for (const entry of irregular) await stopForBreak(tx, deps, master, mismatchOf(entry));
    }
    return true;
  });
}

function mismatchOf({ login, number, reason, dealId, dealAt }: AccountMoved): Mismatch {
  return {
    reason: `${reason}: deal ${dealId} on payment account ${login}`,
    account: login,
    atRisk: undefined,
    dealIds: [dealId],
    operationIds: [],
    compared: { amendment: reason, log_number: String(number), deal_at: dealAt?.toISOString() },
  };
}
