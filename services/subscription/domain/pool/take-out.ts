import { PoolBroken } from "./pool-broken.ts";
import type { UnitPool, UnitSeat } from "./unit-pool.ts";
import { indexOfMostUnits } from "./units.ts";

/** Cents that leave P now; the units that go with them are redeemed by the next strike that can. */
export function takeOut(pool: UnitPool, subscriptionId: bigint, amount: bigint): UnitPool {
  const seat = seatOf(pool, subscriptionId);
  if (amount < 0n) throw new PoolBroken("Only a flow can bring money into a pool.");
  return withSeat(pool, { ...seat, pooled: seat.pooled - amount, unredeemed: seat.unredeemed + amount });
}

/**
 * An Investor has left for good: nothing it has in the pool works or grows any more. Its carry, less than a cent, goes
 * to the seat with most units. Only of a flat Master, because an accrual has no other owner to go to.
 */
export function leaveUnits(pool: UnitPool, subscriptionId: bigint): UnitPool {
  const seat = seatOf(pool, subscriptionId);
  if (pool.positions.length > 0) throw new PoolBroken("Nobody leaves a pool with open positions.");
  const left = withSeat(pool, { ...seat, units: 0n, unredeemed: 0n, carry: 0n });
  const heir = left.seats[indexOfMostUnits(left.seats) ?? -1];
  const inherited =
    heir === undefined
      ? { ...left, suspense: { ...left.suspense, carry: left.suspense.carry + seat.carry } }
      : withSeat(left, { ...heir, carry: heir.carry + seat.carry });
  return {
    ...inherited,
    seats: inherited.seats.filter((each) => each.subscriptionId !== subscriptionId || holds(each)),
  };
}

function holds(seat: UnitSeat): boolean {
  return seat.pooled !== 0n || seat.waiting !== 0n;
}

function seatOf(pool: UnitPool, subscriptionId: bigint): UnitSeat {
  const seat = pool.seats.find((each) => each.subscriptionId === subscriptionId);
  if (seat === undefined) throw new PoolBroken(`Subscription ${subscriptionId} has no seat in the pool.`);
  return seat;
}

function withSeat(pool: UnitPool, seat: UnitSeat): UnitPool {
  return { ...pool, seats: pool.seats.map((each) => (each.subscriptionId === seat.subscriptionId ? seat : each)) };
}
