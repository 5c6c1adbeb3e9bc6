import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { deleteArrivalsOf } from "../../store/arrivals.ts";
import type { Departure } from "../../store/departures.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { endWeeksIfEmpty } from "../../store/masters.ts";
import { cancelEmptied, moveSubscriptions } from "../../store/subscriptions.ts";
import { publishExitRequested, publishExitsCompleted, publishFollowing } from "../../messages/capital-events.ts";

/** Ends the subscriptions of decided exits from one Master, in the transaction that takes their Investors out of its pool. */
export async function endSubscriptions(
  tx: Transaction,
  { wakeSignals }: Pick<Deps, "wakeSignals">,
  exits: readonly (Departure & { readonly requestId: string })[],
  at: Date,
): Promise<void> {
  const left = exits.map(({ subscriptionId, masterLogin, investorLogin, effective, requestId }) => {
    assert(subscriptionId !== null && masterLogin !== null && effective !== null, "an exit is decided in a pool");
    return { subscriptionId, masterLogin, investorLogin, amount: effective, requestId };
  });
  const [first] = left;
  if (first === undefined) return;
  const ids = left.map(({ subscriptionId }) => subscriptionId);
  await deleteArrivalsOf(tx, ids);
  assert(await moveSubscriptions(tx, ids, { from: "ACTIVE", to: "PAUSED" }), "only an active subscription can be left");
  for (const { investorLogin } of exits) publishFollowing(tx, { investorLogin, masterLogin: "" });
  await endWeeksIfEmpty(tx, first.masterLogin);
  const transfers = await insertExitTransfers(tx, left, at);
  for (const exit of left) {
    const first = transfers.find(({ subscriptionId }) => subscriptionId === exit.subscriptionId);
    publishExitRequested(tx, { ...exit, exitTransferId: first?.id, at });
  }
  publishExitsCompleted(tx, await cancelEmptied(tx, ids, at));
  if (transfers.length > 0) afterCommit(tx, wakeSignals.exits.notify);
}
