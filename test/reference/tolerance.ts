import {
  compare,
  distance,
  type Fraction,
  floor,
  fraction,
  isPositive,
  larger,
  ONE,
  over,
  plus,
  show,
  times,
  total,
  ZERO,
} from "./engine/fraction.ts";
import { equityOf, holdingsOf, type Pool } from "./engine/pool.ts";
import type { Floating } from "./engine/pool-engine.ts";

export const E8_PER_CENT = 1_000_000n;

/** Cents by which the rounding to 1e-8 of one event of a pool may change the part of an owner. */
export const TOLERANCE_PER_EVENT = fraction(3n, E8_PER_CENT);

/** The tolerance after a result: an error in a share grows with the size of the result relative to the pool. */
export function grow(tolerance: Fraction, pool: Pool, moved: bigint): Fraction {
  const leverage = over(fraction(abs(moved)), valueOf(pool));
  const exact = plus(times(tolerance, plus(ONE, leverage)), TOLERANCE_PER_EVENT);
  return fraction(floor(times(exact, PRECISION)) + 1n, PRECISION.numerator);
}

const PRECISION = fraction(10n ** 12n);

/** The sum of the equities of all holdings with a share, with what has departed and still counts; at least a cent. */
export function valueOf(pool: Pool): Fraction {
  const holders = holdingsOf(pool).filter(([, { share }]) => isPositive(share));
  const equities = holders.map(([id, { unredeemed }]) =>
    distance(plus(equityOf(pool, id), fraction(unredeemed)), ZERO),
  );
  return larger(total(equities), ONE);
}

export function sizeOf(floating: Floating): bigint {
  return [...floating.values()].reduce((sum, cents) => sum + abs(cents), 0n);
}

function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents;
}

export function expectNear(what: string, shown: Fraction, exact: Fraction, tolerance: Fraction): void {
  if (compare(distance(shown, exact), tolerance) <= 0) return;
  throw new Error(`${what} is ${show(shown)}, and ${show(exact)} by the reference`);
}
