import { type Accrued, accruedIn } from "./accruals.ts";
import { roundDivide, sumOf } from "./rounding.ts";
import { type E8, E8_PER_CENT, SCALE, type UnitPool, type UnitSeat } from "./unit-pool.ts";
import { indexOfSeat } from "./units.ts";

/** E: what an Investor would have if the Master closed everything at the marks. 0 for whom the pool does not know. */
export function equityOf(pool: UnitPool, subscriptionId: bigint): E8 {
  const seat = pool.seats[indexOfSeat(pool.seats, subscriptionId) ?? -1];
  return seat === undefined ? 0n : equityOfSeat(seat, accruedIn(pool));
}

export function equityOfSeat(seat: UnitSeat, accrued: Accrued): E8 {
  return cashOf(seat) + roundDivide(accrued(seat.subscriptionId, seat.units), SCALE);
}

/** Cash and marks of everybody, suspense included: below 0 the Master has lost more than it had. */
export function poolEquity({ seats, suspense, positions }: UnitPool): E8 {
  const cash = sumOf(seats.map(cashOf)) + suspense.amount * E8_PER_CENT + suspense.carry;
  return cash + roundDivide(sumOf(positions.map((position) => position.mark)), SCALE);
}

/** What all units together are worth. Whoever has units still owns what has left P until its units are redeemed. */
export function netAssetValue(seats: readonly UnitSeat[], accrued: Accrued): E8 {
  let cash = 0n;
  let floating = 0n;
  for (const seat of seats) {
    if (seat.units === 0n) continue;
    cash += cashOf(seat) + seat.unredeemed * E8_PER_CENT;
    floating += accrued(seat.subscriptionId, seat.units);
  }
  return cash + roundDivide(floating, SCALE);
}

function cashOf(seat: UnitSeat): E8 {
  return seat.pooled * E8_PER_CENT + seat.carry;
}
