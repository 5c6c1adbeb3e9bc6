import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { PerformanceReply } from "../../services/edge/api/history/performance.ts";
import { calendarOf } from "../../services/kernel/values/time-zone.ts";
import {
  chainValuations,
  type DayPart,
  FIRST_VALUE,
  joinDays,
  maxDrawdown,
  partsOf,
  type PerformanceDay,
  type Valuation,
} from "../../services/subscription/domain/performance.ts";
import { dayMessage } from "../../services/subscription/queries/list-performance.ts";
import type { Instant } from "./engine/configuration.ts";
import {
  compare,
  distance,
  type Fraction,
  fraction,
  isPositive,
  isZero,
  minus,
  ONE,
  over,
  plus,
  times,
  total,
  ZERO,
} from "./engine/fraction.ts";
import {
  largestFall,
  type Performance,
  type PerformanceDay as ExactDay,
  type Revaluation,
} from "./engine/performance.ts";
import { E8_PER_CENT, expectNear } from "./tolerance.ts";

/** Days that were compared, and those that were not: a pool of next to nothing is worth what rounding makes of it. */
export type PerformanceTally = { days: number; tooSmall: number };

const SERVER = calendarOf("UTC-00:20");
const VALUE_SCALE = 10n ** 18n;
const LEAST_VALUE = fraction(1n, VALUE_SCALE);
/** Part of its value by which that of a unit may differ before it says nothing any more. */
const MAX_ERROR = fraction(1n, 10_000n);
const TWO = fraction(2n);

/** The performance of one pool by the code under test, and by how much rounding may have changed it. */
export function modelPerformance(tally: PerformanceTally, now: () => Instant) {
  let parts: readonly DayPart[] = [];
  let seen = 0;
  let error: Fraction | undefined = ZERO;

  return {
    add(valuations: readonly Valuation[]): void {
      parts = partsOf([...parts, ...chainValuations(parts.at(-1), valuations, SERVER)]);
    },
    at: () => ({ at: new Date(now()), dealId: 0n }),
    /** `slack` is by how much the value of the pool may differ, in cents. */
    expectSame(exact: Performance, slack: Fraction): void {
      if (seen === exact.revaluations.length) return;
      for (const revaluation of exact.revaluations.slice(seen)) error = grow(error, revaluation, exact, slack);
      seen = exact.revaluations.length;
      if (error === undefined) return void (tally.tooSmall += 1);
      tally.days += 1;
      for (const [days, wanted] of [
        [joinDays(parts, utcDay), exact.days],
        [joinDays(parts, serverDay), exact.serverDays],
      ] as const) {
        if (days.length !== wanted.length) throw new Error(`${days.length} days have a value, not ${wanted.length}`);
        expectDay(days.at(-1), wanted.at(-1), error, slack);
      }
    },
    /** The answer of the route for the whole time. */
    expectShown(exact: Performance, fees: ReadonlyMap<string, bigint>): void {
      if (error === undefined) return;
      const worst = largestFall(exact);
      for (const [days, wanted] of [
        [joinDays(parts, utcDay), exact.days],
        [joinDays(parts, serverDay), exact.serverDays],
      ] as const) {
        const credited = [...fees].map(([day, cents]) => ({ day, amount: moneyToProto(usd(cents)) }));
        const period = { masterLogin: "1", from: "2026-01-01", to: "2027-01-01", openingValue: "" };
        const maxDrawdownPpm = maxDrawdown(FIRST_VALUE, days);
        const shown = PerformanceReply.of({ ...period, maxDrawdownPpm, days: days.map(dayMessage), credited });
        expectReply(shown, { days: wanted, worst }, fees, error);
      }
    },
  };
}

const utcDay = ({ day }: DayPart): string => day;
const serverDay = (part: DayPart): string => part.serverDay;

/** Relative to the value. Undefined once rounding decides the value. */
function grow(
  error: Fraction | undefined,
  { before, after }: Revaluation,
  { days }: Performance,
  slack: Fraction,
): Fraction | undefined {
  if (error === undefined || compare(before, times(slack, TWO)) <= 0) return undefined;
  if (!isPositive(plus(after, slack))) return error;
  const nav = days.at(-1)!.nav;
  if (compare(after, times(slack, TWO)) <= 0 || compare(nav, LEAST_VALUE) <= 0) return undefined;
  const added = total([over(slack, before), over(slack, after), over(LEAST_VALUE, nav)]);
  const grown = plus(error, times(added, TWO));
  return compare(grown, MAX_ERROR) > 0 ? undefined : { ...rounded(grown) };
}

const FINE = 10n ** 24n;

/** Upwards, because the exact sum becomes long. */
function rounded({ numerator, denominator }: Fraction): Fraction {
  return fraction((numerator * FINE) / denominator + 1n, FINE);
}

function expectDay(real: PerformanceDay | undefined, exact: ExactDay | undefined, error: Fraction, slack: Fraction) {
  if (real === undefined || exact === undefined) throw new Error("a pool has no last day");
  if (real.day !== exact.day || real.result !== exact.result) {
    throw new Error(
      `the results of ${real.day} are ${real.result}, and ${exact.result} of ${exact.day} by the reference`,
    );
  }
  const near = (what: string, value: bigint, wanted: Fraction) =>
    expectNear(`${what} of ${real.day}`, fraction(value, VALUE_SCALE), wanted, allowed(wanted, error));
  near("value of a unit", real.value, exact.nav);
  near("lowest value of a unit", real.lowest, exact.lowest);
  near("highest value of a unit", real.peak, exact.highest);
  if ((real.lowest === 0n) !== exact.isLost) throw new Error(`everything was lost on ${real.day} by one side alone`);
  const ppm = fraction(BigInt(real.drawdownPpm), 1_000_000n);
  expectNear(`drawdown of ${real.day}`, ppm, exact.drawdown, plus(fraction(1n, 1_000_000n), times(error, TWO)));
  expectNear(`value of the pool on ${real.day}`, fraction(real.poolValue, E8_PER_CENT), exact.poolValue, slack);
}

function allowed(value: Fraction, error: Fraction): Fraction {
  return plus(times(value, error), LEAST_VALUE);
}

/** Shown values have eight decimals, those of a day as many as the value they are shown beside. */
const SHOWN = fraction(1n, 100_000_000n);

type Reply = ReturnType<typeof PerformanceReply.of>;

type Exact = { readonly days: readonly ExactDay[]; readonly worst: Fraction };

function expectReply(shown: Reply, { days: exact, worst }: Exact, fees: ReadonlyMap<string, bigint>, error: Fraction) {
  const names = [...new Set([...exact.map(({ day }) => day), ...fees.keys()])].toSorted();
  const points = shown.points.map(({ day }) => day);
  if (points.join(" ") !== names.join(" ")) throw new Error(`shown are ${points.join(" ")}, not ${names.join(" ")}`);
  let before: Fraction | undefined;
  let result = 0n;
  for (const point of shown.points) {
    const own = exact.find(({ day }) => day === point.day);
    const nav = own?.nav ?? before;
    const growth = own === undefined ? ZERO : own.isLost ? minus(ZERO, ONE) : growthOf(before ?? ONE, own.nav);
    expectShown(`value of a unit on ${point.day}`, point.nav_per_unit, nav, nav && allowed(nav, error));
    const isAfterLoss = own === undefined && before !== undefined && isZero(before);
    const change = nav === undefined || isAfterLoss ? undefined : growth;
    expectShown(
      `change of ${point.day}`,
      point.change,
      change,
      change && allowed(plus(ONE, change), times(error, TWO)),
    );
    const drawdown = nav === undefined ? undefined : (own?.drawdown ?? ZERO);
    const ppm = fraction(1n, 1_000_000n);
    expectShown(`drawdown of ${point.day}`, point.drawdown, drawdown, plus(ppm, times(error, TWO)));
    expectShown(`result of ${point.day}`, point.result, fraction(own?.result ?? 0n, 100n), ZERO);
    expectShown(`fees of ${point.day}`, point.fees, fraction(fees.get(point.day) ?? 0n, 100n), ZERO);
    before = nav;
    result += own?.result ?? 0n;
  }
  const all = [...fees.values()].reduce((sum, cents) => sum + cents, 0n);
  expectShown("fees of the period", shown.fees, fraction(all, 100n), ZERO);
  expectShown("closing value", shown.closing_nav_per_unit, before, before && allowed(before, error));
  const gained = before && (exact.some(({ isLost }) => isLost) ? minus(ZERO, ONE) : minus(before, ONE));
  expectShown("return of the period", shown.time_weighted_return, gained, before && allowed(before, error));
  expectShown("drawdown of the period", shown.max_drawdown, worst, plus(fraction(1n, 1_000_000n), times(error, TWO)));
}

function growthOf(from: Fraction, to: Fraction): Fraction {
  return minus(isZero(from) ? to : over(to, from), ONE);
}

function expectShown(what: string, shown: unknown, exact: Fraction | undefined, tolerance = ZERO): void {
  if (shown === null && exact === undefined) return;
  if (shown === null || exact === undefined) throw new Error(`${what} is shown as ${text(shown)} by one side alone`);
  const [whole = "", decimals = ""] = text(shown).split(".");
  const real = fraction(BigInt(`${whole}${decimals}`), 10n ** BigInt(decimals.length));
  if (compare(distance(real, exact), plus(tolerance, isZero(tolerance) ? ZERO : SHOWN)) <= 0) return;
  expectNear(what, real, exact, tolerance);
}

function text(number: unknown): string {
  return JSON.stringify(number);
}
