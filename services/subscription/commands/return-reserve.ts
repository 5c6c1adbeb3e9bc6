import assert from "node:assert/strict";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReturnReserveRequest, ReturnReserveResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { returnReserve as returned } from "../domain/classify-movement.ts";
import { changeAccount, changeHolding } from "../domain/buckets.ts";
import { insertArrivals } from "../store/arrivals.ts";
import { lockBooks, saveAccounts } from "../store/books.ts";
import { insertFlows } from "../store/flows.ts";
import { insertFurtherExits } from "../store/exit-transfers.ts";
import { closeReserves, findReserveOwner } from "../store/reserves.ts";
import { saveHoldings } from "../store/holdings.ts";
import { isPresent, validate } from "../domain/validate.ts";

/** Returns the reserve of a debit that was finally refused. Idempotent: a repeated call returns 0.00. */
export async function returnReserve(deps: Deps, { key }: ReturnReserveRequest): Promise<ReturnReserveResponse> {
  validate(isPresent("key", key));
  const owner = await findReserveOwner(deps.pool, key);
  const amount =
    owner === undefined ? 0n : await inTransaction(deps.pool, (tx) => returnToPool(tx, deps, { key, ...owner }));
  return { amount: moneyToProto(usd(amount)) };
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
  await saveHoldings(tx, [{ ...holding, buckets: changeHolding(holding.buckets, change) }]);
  const { waiting = 0n } = change;
  if (waiting > 0n) await insertArrivals(tx, [{ subscriptionId: holding.subscriptionId, amount: waiting }]);
  await insertFlows(tx, [{ subscriptionId: holding.subscriptionId, amount: flow }], now());
  await closeReserves(tx, [key], "RETURNED", now());
  if (furtherExit > 0n) {
    await insertFurtherExits(tx, [{ subscriptionId: holding.subscriptionId, amount: -furtherExit }], now());
  }
  afterCommit(tx, wakeSignals[signalOf({ furtherExit, flow })].notify);
  return reserve.amount;
}

function signalOf({ furtherExit, flow }: { readonly furtherExit: bigint; readonly flow: bigint }) {
  if (furtherExit > 0n) return "exits";
  return flow > 0n ? "mirrors" : "strikes";
}
