import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook } from "../../domain/books.ts";
import { type HoldingBuckets, isEmptyHolding } from "../../domain/buckets.ts";
import { publishExitRequested, publishExitsCompleted } from "../../messages/capital-events.ts";
import { publishFollowing } from "../../messages/following-events.ts";
import { deleteArrivalsOf } from "../../store/arrivals.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { markLeft } from "../../store/exits.ts";
import { endWeeksIfEmpty } from "../../store/masters.ts";
import { cancelEmptied, listSubscriptionsById, moveSubscriptions } from "../../store/subscriptions.ts";

/** An Investor that is taken out of the pool of a Master, with the amount that has to leave the Master. */
export type Exited = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly account: AccountBook;
  readonly amount: bigint;
  /** After the exit. */
  readonly buckets: HoldingBuckets;
};

/** Ends subscriptions of one Master in the transaction that takes their Investors out of its pool. */
export async function recordExits(
  tx: Transaction,
  { wakeSignals }: Pick<Deps, "wakeSignals">,
  exits: readonly Exited[],
  at: Date,
): Promise<void> {
  const [first] = exits;
  if (first === undefined) return;
  const ids = exits.map(({ subscriptionId }) => subscriptionId);
  await deleteArrivalsOf(tx, ids);
  assert(await moveSubscriptions(tx, ids, "left"), "only an active subscription can be left");
  for (const { account } of exits) publishFollowing(tx, { investorLogin: account.login, masterLogin: "" });
  await endWeeksIfEmpty(tx, first.masterLogin);
  const transfers = await insertExitTransfers(
    tx,
    exits.map((exit) => ({ ...exit, refusals: 0 })),
    at,
  );
  const requestIds = await markLeft(
    tx,
    exits.map(({ subscriptionId, buckets, amount }) => {
      return { subscriptionId, status: isEmptyHolding(buckets) ? "CANCELLED" : "PAUSED", amount };
    }),
  );
  for (const subscription of await listSubscriptionsById(tx, ids)) {
    const { id } = subscription;
    publishExitRequested(tx, {
      subscription,
      amount: exits.find(({ subscriptionId }) => subscriptionId === id)?.amount ?? 0n,
      exitTransferId: transfers.find(({ subscriptionId }) => subscriptionId === id)?.id,
      requestId: requestIds.get(id) ?? "",
      at,
    });
  }
  publishExitsCompleted(tx, await cancelEmptied(tx, ids, at));
  if (transfers.length > 0) afterCommit(tx, wakeSignals.exits.notify);
}
