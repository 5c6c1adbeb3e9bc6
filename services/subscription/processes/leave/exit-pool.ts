import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, changeSeat, combine, isEmptySeat, move } from "../../domain/places.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { takeOutFlat } from "../../domain/take-out-flat.ts";
import { tellExitRequested, tellExitsCompleted } from "../../messages/tell.ts";
import { deleteArrivalsOf } from "../../store/arrivals.ts";
import { saveAccounts } from "../../store/books.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { markLeft } from "../../store/exits.ts";
import { endWeeksIfNobodyIsLeft } from "../../store/masters.ts";
import { saveSeats } from "../../store/seats.ts";
import { cancelEmptied, getSubscription, moveSubscription } from "../../store/subscriptions.ts";
import { saveUnitPool } from "../../store/unit-pools.ts";
import type { Leaving } from "./leaving.ts";

/**
 * Takes an Investor out of a pool: its fees are set apart, and what else it had at work is its own again at once, and is
 * still on the Master until the exit transfer has taken it from there. Foreign money on the account becomes the
 * Investor's.
 */
export async function exitPool(
  tx: Transaction,
  { bells }: Deps,
  { books, decision, at }: Leaving,
  pool: UnitPool,
): Promise<void> {
  const { account, seat } = books;
  const { subscriptionId, masterLogin } = seat;
  const reserved = decision.reserves.reduce((total, reserve) => total + reserve.amount, 0n);
  // A reserve that was given back since the place was fixed waits for units that it will not get.
  const { waiting } = seat.places;
  const amount = decision.numbers.effective + waiting;
  const left = combine(
    move("pooled", "reserved", reserved),
    move("waiting", "pooled", waiting),
    move("pooled", "outbound", amount),
  );
  const places = changeSeat(seat.places, left);
  const gained = combine({ outside: amount }, move("quarantined", "outside", account.places.quarantined));
  await saveAccounts(tx, [{ ...account, places: changeAccount(account.places, gained), pooledIn: undefined }]);
  await saveUnitPool(tx, masterLogin, pool, withoutSeat(pool, { subscriptionId, amount: seat.places.pooled }));
  await saveSeats(tx, [{ ...seat, places, unredeemed: 0n }]);
  await deleteArrivalsOf(tx, subscriptionId);
  assert(await moveSubscription(tx, subscriptionId, "left"), "only an active subscription is left");
  await endWeeksIfNobodyIsLeft(tx, masterLogin);
  const [exit] = await insertExitTransfers(tx, { subscriptionId, masterLogin, amount, at });
  const status = isEmptySeat(places) ? "CANCELLED" : "PAUSED";
  const requestId = await markLeft(tx, subscriptionId, { status, amount });
  const subscription = await getSubscription(tx, subscriptionId);
  await tellExitRequested(tx, { subscription, amount, exitTransferId: exit?.id, requestId, at });
  await tellExitsCompleted(tx, await cancelEmptied(tx, [subscriptionId], at));
  if (exit !== undefined) afterCommit(tx, bells.exits.ring);
}

function withoutSeat(
  pool: UnitPool,
  { subscriptionId, amount }: { readonly subscriptionId: bigint; readonly amount: bigint },
): UnitPool {
  const seats = pool.seats.map((seat) => (seat.subscriptionId === subscriptionId ? { ...seat, waiting: 0n } : seat));
  return takeOutFlat({ ...pool, seats }, { subscriptionId, amount, isLast: true });
}

/** Fees and payout stop working at once, and stay on the Master until their debits are seen. */
export async function setApart(tx: Transaction, { books, decision }: Leaving, pool: UnitPool): Promise<void> {
  const { seat } = books;
  const { subscriptionId, masterLogin } = seat;
  const amount = decision.reserves.reduce((total, reserve) => total + reserve.amount, 0n);
  const after = takeOutFlat(pool, { subscriptionId, amount, isLast: false });
  const places = changeSeat(seat.places, move("pooled", "reserved", amount));
  const unredeemed = after.seats.find((each) => each.subscriptionId === subscriptionId)?.unredeemed ?? 0n;
  await saveUnitPool(tx, masterLogin, pool, after);
  await saveSeats(tx, [{ ...seat, places, unredeemed }]);
}
