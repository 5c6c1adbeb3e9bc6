import type { Instant } from "./configuration.ts";
import {
  floor,
  type Fraction,
  fraction,
  isPositive,
  isZero,
  larger,
  minus,
  ONE,
  over,
  smaller,
  times,
  ZERO,
} from "./fraction.ts";

/** The value of the same shares before and after a result, or before and after the floating results were attributed. Cents. */
export type Revaluation = {
  readonly at: Instant;
  readonly before: Fraction;
  readonly after: Fraction;
  readonly result: bigint;
};

export type PerformanceDay = {
  /** Such as 2026-01-31, UTC. */
  readonly day: string;
  /** What 1 USD of the beginning is worth now: net asset value per unit. */
  nav: Fraction;
  lowest: Fraction;
  /** Highest value so far, and the largest fall below it on this day, as a part of it. */
  highest: Fraction;
  drawdown: Fraction;
  result: bigint;
  poolValue: Fraction;
};

/** How an investment in a pool has grown, whatever was paid in or out. */
export type Performance = { readonly days: PerformanceDay[]; readonly revaluations: Revaluation[] };

export function newPerformance(): Performance {
  return { days: [], revaluations: [] };
}

/** Grows what 1 USD has become by the growth of the pool. After a total loss, and at the beginning, it is 1 USD that is invested. */
export function revalue({ days, revaluations }: Performance, revaluation: Revaluation): void {
  const { at, before, after, result } = revaluation;
  if (!isPositive(before)) return;
  revaluations.push(revaluation);
  const day = new Date(at).toISOString().slice(0, 10);
  const last = days.at(-1);
  const isAnew = last === undefined || isZero(last.nav);
  const invested = isAnew ? ONE : last.nav;
  const nav = isPositive(after) ? shortened(over(times(invested, after), before)) : ZERO;
  const highest = larger(isAnew ? invested : last.highest, nav);
  const drawdown = over(minus(highest, nav), highest);
  if (last === undefined || last.day < day) {
    days.push({ day, nav, lowest: nav, highest, drawdown, result, poolValue: after });
    return;
  }
  last.nav = nav;
  last.lowest = smaller(last.lowest, nav);
  last.highest = highest;
  last.drawdown = larger(last.drawdown, drawdown);
  last.result += result;
  last.poolValue = after;
}

const PRECISION = 10n ** 40n;

/** A product of many results would have thousands of digits. */
function shortened(exact: Fraction): Fraction {
  return fraction(floor(times(exact, fraction(PRECISION))), PRECISION);
}
