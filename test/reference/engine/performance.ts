import type { Instant } from "./configuration.ts";
import {
  compare,
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

/** The value of the same shares before and after a result, or before and after open positions were looked at. Cents. */
export type Revaluation = {
  readonly at: Instant;
  readonly before: Fraction;
  readonly after: Fraction;
  readonly result: bigint;
  /** Positions are open afterwards, so that a value below zero is not the end. */
  readonly isOpen: boolean;
};

export type PerformanceDay = {
  /** Such as 2026-01-31. */
  readonly day: string;
  /** What 1 USD of the beginning is worth now: net asset value per unit. */
  nav: Fraction;
  lowest: Fraction;
  /** Highest value so far, and the largest fall below it on this day, as a part of it. */
  highest: Fraction;
  drawdown: Fraction;
  isLost: boolean;
  result: bigint;
  poolValue: Fraction;
};

/** How an investment in a pool has grown, whatever was paid in or out. */
export type Performance = {
  /** Of UTC, and of the trade server. */
  readonly days: PerformanceDay[];
  readonly serverDays: PerformanceDay[];
  readonly revaluations: Revaluation[];
  /** Every value of 1 USD, and how much of it was there when open positions had eaten all of it. */
  readonly values: { readonly nav: Fraction; readonly left: Fraction }[];
  /** The value of all shares before open positions ate it; undefined while there is something left. */
  eaten: Fraction | undefined;
};

export function newPerformance(): Performance {
  return { days: [], serverDays: [], revaluations: [], values: [], eaten: undefined };
}

/** The clock of the server is twenty minutes behind UTC: short histories have days of both kinds. */
export const SERVER_BEHIND_MS = 20 * 60_000;

/** Grows what 1 USD has become by the growth of the pool. After a total loss, and at the beginning, it is 1 USD that is invested. */
export function revalue(performance: Performance, revaluation: Revaluation): void {
  const { at, after, result, isOpen } = revaluation;
  const before = isPositive(revaluation.before) ? revaluation.before : performance.eaten;
  if (before === undefined) return;
  performance.revaluations.push({ ...revaluation, before });
  const last = performance.days.at(-1);
  const isAnew = last === undefined || isZero(last.nav);
  const invested = isAnew ? ONE : last.nav;
  const isEaten = !isPositive(after) && isOpen;
  performance.eaten = isEaten ? before : undefined;
  const grown = isPositive(after) ? shortened(over(times(invested, after), before)) : ZERO;
  const nav = isEaten ? invested : grown;
  performance.values.push({ nav, left: isEaten ? ZERO : nav });
  const highest = larger(isAnew ? invested : last.highest, nav);
  const drawdown = isEaten ? ONE : over(minus(highest, nav), highest);
  const facts = { nav, highest, drawdown, result, poolValue: after };
  note(performance.days, dayOf(at), facts);
  note(performance.serverDays, dayOf(at - SERVER_BEHIND_MS), facts);
}

function note(
  days: PerformanceDay[],
  day: string,
  { nav, highest, drawdown, result, poolValue }: Omit<PerformanceDay, "day" | "lowest" | "isLost">,
): void {
  const last = days.at(-1);
  if (last === undefined || last.day < day) {
    days.push({ day, nav, lowest: nav, highest, drawdown, isLost: isZero(nav), result, poolValue });
    return;
  }
  last.nav = nav;
  last.lowest = smaller(last.lowest, nav);
  last.highest = highest;
  last.drawdown = larger(last.drawdown, drawdown);
  last.isLost ||= isZero(nav);
  last.result += result;
  last.poolValue = poolValue;
}

/** The largest part of any earlier value, 1 USD at the beginning included, that a later one has lost. */
export function largestFall({ values }: Performance): Fraction {
  let most = ZERO;
  let top = ONE;
  for (const { nav, left } of values) {
    const fallen = over(minus(top, left), top);
    if (compare(fallen, most) > 0) most = fallen;
    top = larger(top, nav);
  }
  return most;
}

function dayOf(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

const PRECISION = 10n ** 40n;

/** A product of many results would have thousands of digits. */
function shortened(exact: Fraction): Fraction {
  return fraction(floor(times(exact, fraction(PRECISION))), PRECISION);
}
