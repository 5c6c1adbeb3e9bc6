import assert from "node:assert/strict";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { returnReserve as returned } from "../../domain/classify-movement.ts";
import { changeAccount } from "../../domain/buckets.ts";
import { insertArrivals } from "../../store/arrivals.ts";
import { lockBooks, saveAccounts } from "../../store/books.ts";
import { insertFlows } from "../../store/flows.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { closeReserves, findReserveOwner } from "../../store/reserves.ts";
import { changeHoldings } from "../../store/holdings.ts";

/** Returns the reserve of a debit to the pool, in cents. Idempotent: 0 when none is open under the key. */
export async function returnReserve(deps: Deps, key: string): Promise<bigint> {
  const owner = await findReserveOwner(deps.pool, key);
  return owner === undefined ? 0n : await inTransaction(deps.pool, (tx) => returnToPool(tx, deps, { key, ...owner }));
}

async function returnToPool(
  tx: Transaction,
  { now, wakeSignals }: Deps,
  { key, investorLogin }: { readonly key: string; readonly investorLogin: string },
): Promise<bigint> {
  const books = await lockBooks(tx, { investorLogins: [investorLogin], masterLogins: [], reserveKeys: [key] });
  const reserve = books.reserves.get(key);
  if (reserve === undefined) return 0n;
  const account = books.accounts.get(investorLogin);
  const holding = books.holdings.get(reserve.subscriptionId);
  assert(account !== undefined && holding !== undefined, "a reserve belongs to a holding");
  const { change, furtherExit, flow } = returned({ ...reserve, isPooled: account.pooledIn === holding.subscriptionId });
  await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, change) }]);
  await changeHoldings(tx, [{ subscriptionId: holding.subscriptionId, ...change }]);
  const { waiting = 0n } = change;
  if (waiting > 0n) await insertArrivals(tx, [{ subscriptionId: holding.subscriptionId, amount: waiting }]);
  await insertFlows(tx, [{ subscriptionId: holding.subscriptionId, amount: flow }], now());
  await closeReserves(tx, [key], "RETURNED", now());
  if (furtherExit > 0n) {
    await insertExitTransfers(tx, [{ subscriptionId: holding.subscriptionId, amount: furtherExit }], now());
  }
  afterCommit(tx, wakeSignals[signalOf({ furtherExit, flow })].notify);
  return reserve.amount;
}

function signalOf({ furtherExit, flow }: { readonly furtherExit: bigint; readonly flow: bigint }) {
  if (furtherExit > 0n) return "exits";
  return flow > 0n ? "mirrors" : "strikes";
}
