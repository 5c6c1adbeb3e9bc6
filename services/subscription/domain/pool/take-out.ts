import { PoolBroken } from "./pool-broken.ts";
import type { E8, UnitPool, UnitSeat } from "./unit-pool.ts";
import { indexOfMostUnits, indexOfSeat } from "./units.ts";

/** Cents that leave P now; the units that go with them are redeemed by the next strike that can. */
export function takeOut(pool: UnitPool, subscriptionId: bigint, amount: bigint): UnitPool {
  if (amount < 0n) throw new PoolBroken("An inflow does not join a pool this way.");
  const { index, seat } = seatOf(pool, subscriptionId);
  const taken = { ...seat, pooled: seat.pooled - amount, unredeemed: seat.unredeemed + amount };
  return { ...pool, seats: pool.seats.with(index, taken) };
}

/**
 * An Investor has left for good: nothing it has in the pool works or grows any more. Its carry, less than a cent, goes
 * to the seat with most units, or to suspense. Only of a flat Master: an accrual could have no other owner.
 */
export function leaveUnits(pool: UnitPool, subscriptionId: bigint): UnitPool {
  if (pool.positions.length > 0) throw new PoolBroken("An Investor does not leave a pool with open positions.");
  const { index, seat } = seatOf(pool, subscriptionId);
  const empty = { ...seat, units: 0n, unredeemed: 0n, carry: 0n };
  const holds = seat.pooled !== 0n || seat.waiting !== 0n;
  const seats = holds ? pool.seats.with(index, empty) : pool.seats.toSpliced(index, 1);
  return inherit({ ...pool, seats }, seat.carry);
}

function inherit(pool: UnitPool, carry: E8): UnitPool {
  const index = indexOfMostUnits(pool.seats);
  const heir = index === undefined ? undefined : pool.seats[index];
  if (index === undefined || heir === undefined) {
    return { ...pool, suspense: { ...pool.suspense, carry: pool.suspense.carry + carry } };
  }
  return { ...pool, seats: pool.seats.with(index, { ...heir, carry: heir.carry + carry }) };
}

function seatOf({ seats }: UnitPool, subscriptionId: bigint): { readonly index: number; readonly seat: UnitSeat } {
  const index = indexOfSeat(seats, subscriptionId);
  const seat = index === undefined ? undefined : seats[index];
  if (index !== undefined && seat !== undefined) return { index, seat };
  throw new PoolBroken(`Subscription ${subscriptionId} has no seat in the pool.`);
}
