import { callContext } from "#kernel/contract/context.ts";
import { isRestartOf } from "#kernel/postgres/database-identity.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { feeQueues } from "../../queues.ts";
import { areFeesKnown, beginSearch, endSearch, type FeeSearch } from "../../store/fee-search.ts";
import { listKnownKeys } from "../../store/imported-payments.ts";
import { followDirectory } from "./follow-directory.ts";
import { recordUnrecorded } from "./record-unrecorded.ts";
import { settleFound } from "./settle-found.ts";

/** After a failover a call of before it may still be under way to platform; longer than the deadline of each. */
const IN_FLIGHT_MS = 10_000;
const READ_MS = 5_000;

/**
 * In a database that may lack commits, records the decisions of subscription that are not recorded, and asks platform for the fees that were sent
 * after the last one that is known, before anything else is decided or sent. True when it has to be repeated at once. A crash between two steps, or
 * another replica, repeats them: each is done once.
 */
export async function findLostFees(deps: Deps): Promise<boolean> {
  if (await areFeesKnown(deps.pool)) return false;
  const search = await inTransaction(deps.pool, beginSearch);
  if (search.begunForMs < waitOf(search)) return false;
  const transfers = await readTransfers(deps, search.afterTransferId);
  const needs = { ...deps, searchingIn: search.database };
  const searching: Deps = { ...needs, queues: feeQueues(needs) };
  const keys = transfers.map(({ key }) => key);
  const known = await listKnownKeys(deps.pool, keys);
  // A decision that was not recorded is paid to the present account of its Master.
  if (mayLack(search)) await followDirectory(searching);
  await recordUnrecorded(searching);
  for (const transfer of transfers) await settleFound(searching, transfer);
  if (mayLack(search)) await followDirectory(searching);
  const hasEnded = await inTransaction(deps.pool, (tx) => endSearch(tx, search.database));
  if (!hasEnded) return true;
  const lost = keys.filter((key) => !known.has(key));
  if (lost.length > 0) {
    deps.log.warn("fees were lost with commits of the database and are recorded again", { count: lost.length });
  }
  deps.wakeSignals.payments.notify();
  return false;
}

function waitOf(search: FeeSearch): number {
  return mayLack(search) ? IN_FLIGHT_MS : 0;
}

/** A restart of the server loses no commit, and a new schema has sent nothing. */
function mayLack({ database, lastDatabase }: FeeSearch): boolean {
  return lastDatabase !== undefined && !isRestartOf(lastDatabase, database);
}

async function readTransfers({ platform }: Deps, afterTransferId: bigint): Promise<TransferResult[]> {
  const found: TransferResult[] = [];
  let after = afterTransferId;
  do {
    const page = await platform.listFeeTransfers(
      { afterTransferId: after },
      callContext({ caller: "fee", withinMs: READ_MS }),
    );
    found.push(...page.transfers);
    after = page.nextAfterTransferId;
  } while (after > 0n);
  return found;
}
