import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, changeHolding, combine, isEmptyHolding, move } from "../../domain/buckets.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { takeOutFlat } from "../../domain/take-out-flat.ts";
import { publishExitRequested, publishExitsCompleted } from "../../messages/capital-events.ts";
import { publishFollowing } from "../../messages/following-events.ts";
import { deleteArrivalsOf } from "../../store/arrivals.ts";
import { saveAccounts } from "../../store/books.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { markLeft } from "../../store/exits.ts";
import { endWeeksIfEmpty } from "../../store/masters.ts";
import { saveHoldings } from "../../store/holdings.ts";
import { cancelEmptied, getSubscription, moveSubscription } from "../../store/subscriptions.ts";
import { saveUnitPool } from "../../store/unit-pools.ts";
import type { Leaving } from "./leaving.ts";

/**
 * Takes an Investor out of a pool: its fees are reserved, the rest of its share stops trading at once and stays on the
 * Master until the exit transfer is applied. External funds on the account become the Investor's own money.
 */
export async function exitPool(
  tx: Transaction,
  { wakeSignals }: Deps,
  { books, decision, at }: Leaving,
  pool: UnitPool,
): Promise<void> {
  const { account, holding } = books;
  const { subscriptionId, masterLogin } = holding;
  const reserved = decision.reserves.reduce((total, reserve) => total + reserve.amount, 0n);
  // A reserve returned since the log position was fixed waits for units that are no longer issued.
  const { waiting } = holding.buckets;
  const amount = decision.numbers.effective + waiting;
  const left = combine(
    move("pooled", "reserved", reserved),
    move("waiting", "pooled", waiting),
    move("pooled", "outbound", amount),
  );
  const buckets = changeHolding(holding.buckets, left);
  const gained = combine({ outside: amount }, move("quarantined", "outside", account.buckets.quarantined));
  await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, gained), pooledIn: undefined }]);
  await saveUnitPool(tx, masterLogin, pool, withoutHolding(pool, { subscriptionId, amount: holding.buckets.pooled }));
  await saveHoldings(tx, [{ ...holding, buckets, unredeemed: 0n }]);
  await deleteArrivalsOf(tx, subscriptionId);
  assert(await moveSubscription(tx, subscriptionId, "left"), "only an active subscription can be left");
  publishFollowing(tx, { investorLogin: account.login, masterLogin: "" });
  await endWeeksIfEmpty(tx, masterLogin);
  const [exit] = await insertExitTransfers(tx, { subscriptionId, masterLogin, amount, at });
  const status = isEmptyHolding(buckets) ? "CANCELLED" : "PAUSED";
  const requestId = await markLeft(tx, subscriptionId, { status, amount });
  const subscription = await getSubscription(tx, subscriptionId);
  publishExitRequested(tx, { subscription, amount, exitTransferId: exit?.id, requestId, at });
  publishExitsCompleted(tx, await cancelEmptied(tx, [subscriptionId], at));
  if (exit !== undefined) afterCommit(tx, wakeSignals.exits.notify);
}

function withoutHolding(
  pool: UnitPool,
  { subscriptionId, amount }: { readonly subscriptionId: bigint; readonly amount: bigint },
): UnitPool {
  const holdings = pool.holdings.map((holding) =>
    holding.subscriptionId === subscriptionId ? { ...holding, waiting: 0n } : holding,
  );
  return takeOutFlat({ ...pool, holdings }, { subscriptionId, amount, isLast: true });
}

/** Reserves fees and payout: they stop trading at once, and stay on the Master until their debits show in the log. */
export async function reserveInPool(tx: Transaction, { books, decision }: Leaving, pool: UnitPool): Promise<void> {
  const { holding } = books;
  const { subscriptionId, masterLogin } = holding;
  const amount = decision.reserves.reduce((total, reserve) => total + reserve.amount, 0n);
  const after = takeOutFlat(pool, { subscriptionId, amount, isLast: false });
  const buckets = changeHolding(holding.buckets, move("pooled", "reserved", amount));
  const unredeemed = after.holdings.find((each) => each.subscriptionId === subscriptionId)?.unredeemed ?? 0n;
  await saveUnitPool(tx, masterLogin, pool, after);
  await saveHoldings(tx, [{ ...holding, buckets, unredeemed }]);
}
