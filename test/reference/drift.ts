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
import { equityOf, type Pool } from "./engine/pool.ts";
import type { Floating } from "./engine/pool-engine.ts";

export const E8_PER_CENT = 1_000_000n;

/** Cents by which rounding to 1e-8 may move what somebody is entitled to, at each event of a pool. */
export const DRIFT_PER_EVENT = fraction(3n, E8_PER_CENT);

/** A share that is wrong in its last digit makes a result wrong in proportion to what it is of the pool. */
export function grown(drift: Fraction, pool: Pool, moved: bigint): Fraction {
  const leverage = over(fraction(abs(moved)), valueOf(pool));
  const exact = plus(times(drift, plus(ONE, leverage)), DRIFT_PER_EVENT);
  return fraction(floor(times(exact, PRECISION)) + 1n, PRECISION.top);
}

const PRECISION = fraction(10n ** 12n);

/** Of those who have a share; at least a cent. */
export function valueOf(pool: Pool): Fraction {
  const holders = [...pool.holdings].filter(([, { share }]) => isPositive(share));
  const equities = holders.map(([id]) => distance(equityOf(pool, id), ZERO));
  return larger(total(equities), ONE);
}

export function sizeOf(floating: Floating): bigint {
  return [...floating.values()].reduce((sum, cents) => sum + abs(cents), 0n);
}

function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents;
}

export function expectNear(what: string, shown: Fraction, exact: Fraction, drift: Fraction): void {
  if (compare(distance(shown, exact), drift) <= 0) return;
  throw new Error(`${what} is ${show(shown)}, and ${show(exact)} by the reference`);
}
