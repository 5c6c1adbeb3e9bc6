import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, changeSeat, combine, isEmptySeat, move } from "../../domain/places.ts";
import { strike } from "../../domain/strike.ts";
import { saveAccounts } from "../../store/books.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { markLeft } from "../../store/exits.ts";
import { saveSeats } from "../../store/seats.ts";
import { cancelEmptied, getSubscription, moveSubscription } from "../../store/subscriptions.ts";
import { tellExitRequested, tellExitsCompleted } from "../tell.ts";
import type { Leaving } from "./leaving.ts";

/**
 * Takes an Investor out of a pool: what it had at work is its own again at once, and is still on the Master until the
 * exit transfer has taken it from there. Foreign money on the account becomes the Investor's.
 */
export async function leavePool(tx: Transaction, { bells }: Deps, leaving: Leaving): Promise<void> {
  const { books, numbers, at } = leaving;
  const { account, seat } = books;
  const { subscriptionId, masterLogin } = seat;
  const amount = numbers.effective;
  const places = changeSeat(seat.places, strike({ kind: "outflow", to: "outbound", amount }));
  const gained = combine({ outside: amount }, move("quarantined", "outside", account.places.quarantined));
  await saveAccounts(tx, [{ ...account, places: changeAccount(account.places, gained), pooledIn: undefined }]);
  await saveSeats(tx, [{ ...seat, places }]);
  assert(await moveSubscription(tx, subscriptionId, "left"), "only an active subscription is left");
  const [exit] = await insertExitTransfers(tx, { subscriptionId, masterLogin, amount, at });
  const status = isEmptySeat(places) ? "CANCELLED" : "PAUSED";
  const requestId = await markLeft(tx, subscriptionId, { status, amount });
  const subscription = await getSubscription(tx, subscriptionId);
  await tellExitRequested(tx, { subscription, amount, exitTransferId: exit?.id, requestId, at });
  await tellExitsCompleted(tx, await cancelEmptied(tx, [subscriptionId], at));
  if (exit !== undefined) afterCommit(tx, bells.exits.ring);
}
