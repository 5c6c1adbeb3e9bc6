import { callContext } from "#kernel/contract/context.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { type AccountMoved, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type Mismatch, stopForBreak } from "../processes/stop-for-break.ts";
import type { Deps } from "../deps.ts";
import { listMastersOfAccounts, listPaymentAccountsFrom, moveSeenNumber, type SeenAccount } from "../store/masters.ts";

/** Pages of one run, together a million Masters; further accounts are only covered by the breaks of platform. */
const MAX_PAGES = 1_000;
/** Pages of log entries per account and run. Each fee is an entry, and a busy account must not delay the others. */
const READS_PER_RUN = 20;
/** Platform reads the logs from its database. */
const CALL_MS = 5_000;

/**
 * Scans new entries in the logs of payment accounts. A deal of the service that is amended, deleted or unmatched is an entry
 * there at once, and stops the fees of its Master before a check finds it.
 */
export async function watchPaymentAccounts(deps: Deps): Promise<boolean> {
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const accounts = await listPaymentAccountsFrom(deps.pool, after, MAX_PAGE_SIZE);
    if (accounts.length > 0) await scan(deps, accounts);
    const last = accounts.at(-1);
    if (last === undefined || accounts.length < MAX_PAGE_SIZE) return false;
    after = last.login;
  }
  return false;
}

async function scan(deps: Deps, accounts: readonly SeenAccount[]): Promise<void> {
  const positions = accounts.map(({ login, seenNumber }) => ({ login, number: seenNumber ?? 0n }));
  const { balances } = await deps.platform.readLogBalances(
    { positions },
    callContext({ caller: "fee", withinMs: CALL_MS }),
  );
  const ends = new Map(balances.map(({ login, lastNumber }) => [login, lastNumber]));
  for (const { login, seenNumber } of accounts) {
    const to = ends.get(login);
    if (to === undefined) continue;
    // Earlier entries are not scanned: an undecided difference of them is an open break of platform.
    if (seenNumber === undefined) await moveSeenNumber(deps.pool, { login, from: seenNumber, to });
    else if (to > seenNumber) await scanLog(deps, login, seenNumber);
  }
}

async function scanLog(deps: Deps, login: string, seenNumber: bigint): Promise<void> {
  let from = seenNumber;
  for (let read = 0; read < READS_PER_RUN; read += 1) {
    const request = { login, afterNumber: from, limit: MAX_PAGE_SIZE };
    const { entries } = await deps.platform.readLog(request, callContext({ caller: "fee", withinMs: CALL_MS }));
    const to = entries.at(-1)?.number;
    if (to === undefined || !(await stopOnAmendments(deps, { login, from, to }, entries))) return;
    if (entries.length < MAX_PAGE_SIZE) return;
    from = to;
  }
}

type Range = { readonly login: string; readonly from: bigint; readonly to: bigint };

/** The log position moves in the commit that stops the Master, so no entry is skipped and none stops it twice. */
async function stopOnAmendments(deps: Deps, range: Range, entries: readonly AccountMoved[]): Promise<boolean> {
  const amendments = entries.filter(({ kind }) => kind === MovementKind.AMENDMENT);
  return await inTransaction(deps.pool, async (tx) => {
    if (!(await moveSeenNumber(tx, range))) return false;
    if (amendments.length === 0) return true;
    for (const { login: master } of await listMastersOfAccounts(tx, [range.login])) {
      for (const entry of amendments) await stopForBreak(tx, deps, master, mismatchOf(entry));
    }
    return true;
  });
}

function mismatchOf({ login, number, reason, dealId, dealAt }: AccountMoved): Mismatch {
  return {
    reason: `${reason}: deal ${dealId} on payment account ${login}`,
    account: login,
    at_risk_minor: null,
    deal_ids: [String(dealId)],
    operation_ids: [],
    compared: { amendment: reason, log_number: String(number), deal_at: dealAt?.toISOString() },
  };
}
