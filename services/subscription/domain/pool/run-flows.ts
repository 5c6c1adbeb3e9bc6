import type { Accrued, Owner } from "./accruals.ts";
import { equityOfSeat, netAssetValue } from "./equity.ts";
import { ceilDivide, floorDivide } from "./rounding.ts";
import { type E8, E8_PER_CENT, type UnitSeat } from "./unit-pool.ts";
import { totalUnits } from "./units.ts";

/** What every flow of one strike shares: taken once, after the marks and before the first of them. */
export type StrikeTerms = {
  readonly price: Price;
  /** With the units from before the flows. */
  readonly accrued: Accrued;
  readonly flat: boolean;
};

type Price = { readonly units: bigint; readonly value: E8 };

/** A unit is worth about 1e-8 USD. Beyond this factor either way its rounding is no longer dust, or units grow huge. */
const MOST_DRIFT = 64n;

/** The seats after a strike: outflows, then inflows, then new units for everybody where the old ones say nothing. */
export function runFlows(seats: readonly UnitSeat[], terms: StrikeTerms): UnitSeat[] {
  const accrued = soFar(seats, terms.accrued);
  const priced = terms.price.units > 0n && terms.price.value > 0n;
  const flowed = priced ? buy(redeem(seats, terms), terms.price, accrued) : seats.map(moveOnly);
  const struck = priced && stillGood(flowed, accrued) ? flowed : renew(flowed, accrued);
  return terms.flat ? struck.map(dropEmpty) : struck;
}

/** What each has accrued stays the same, whatever units it gets. */
function soFar(seats: readonly UnitSeat[], accrued: Accrued): Accrued {
  const amounts = new Map<Owner, bigint>(
    seats.map(({ subscriptionId, units }) => [subscriptionId, accrued(subscriptionId, units)]),
  );
  return (owner) => amounts.get(owner) ?? 0n;
}

/** Outflows by subscription. The last units of a pool with open positions stay: what it earns must have an owner. */
function redeem(seats: readonly UnitSeat[], { price, flat }: StrikeTerms): UnitSeat[] {
  let left = price.units;
  return seats.map((seat) => {
    if (seat.unredeemed === 0n) return seat;
    const due = ceilDivide(seat.unredeemed * E8_PER_CENT * price.units, price.value);
    const taken = due < seat.units ? due : seat.units;
    if (!flat && taken > 0n && taken === left) return seat;
    left -= taken;
    return { ...seat, units: seat.units - taken, unredeemed: 0n };
  });
}

/** Inflows. Whoever has no units gets those of its whole equity: what it owned without them works from now on. */
function buy(seats: readonly UnitSeat[], { units, value }: Price, accrued: Accrued): UnitSeat[] {
  return seats.map((seat) => {
    if (seat.waiting === 0n) return seat;
    const joined = { ...seat, pooled: seat.pooled + seat.waiting, waiting: 0n };
    const worth = seat.units > 0n ? seat.waiting * E8_PER_CENT : atLeastZero(equityOfSeat(joined, accrued));
    return { ...joined, units: seat.units + floorDivide(worth * units, value) };
  });
}

/** Where units have no price yet or no longer, money moves without them. */
function moveOnly(seat: UnitSeat): UnitSeat {
  return { ...seat, pooled: seat.pooled + seat.waiting, waiting: 0n, unredeemed: 0n };
}

function stillGood(seats: readonly UnitSeat[], accrued: Accrued): boolean {
  const units = totalUnits(seats);
  const value = netAssetValue(seats, accrued);
  return value * MOST_DRIFT >= units && value <= units * MOST_DRIFT;
}

/** A unit for each 1e-8 of equity, and of what has left P without its units. */
function renew(seats: readonly UnitSeat[], accrued: Accrued): UnitSeat[] {
  return seats.map((seat) => {
    const leaving = seat.units > 0n ? seat.unredeemed * E8_PER_CENT : 0n;
    return { ...seat, units: atLeastZero(equityOfSeat(seat, accrued) + leaving) };
  });
}

function dropEmpty(seat: UnitSeat): UnitSeat {
  return seat.pooled === 0n ? { ...seat, units: 0n } : seat;
}

function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
