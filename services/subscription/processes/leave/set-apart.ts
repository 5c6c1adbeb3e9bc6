import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { changeSeat, move } from "../../domain/places.ts";
import { takeOutFlat } from "../../domain/take-out-flat.ts";
import { saveSeats } from "../../store/seats.ts";
import { saveUnitPool } from "../../store/unit-pools.ts";
import type { Leaving } from "./leaving.ts";

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
