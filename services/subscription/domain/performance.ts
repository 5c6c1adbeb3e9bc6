import type { E8 } from "./pool/unit-pool.ts";

/** A change of the value of all units that no deposit, withdrawal or fee has made. */
export type Valuation = {
  readonly at: Date;
  /** The last deal of the Master that it contains. */
  readonly dealId: bigint;
  /** The value of the same units before and after. */
  readonly before: E8;
  readonly after: E8;
  readonly units: bigint;
  /** Cents; 0 for the marks of a strike. */
  readonly result: bigint;
};

/** The value of a unit on one day, in 1e-18 USD. */
export type PerformanceDay = {
  /** Such as 2026-01-31, UTC. */
  readonly day: string;
  readonly value: bigint;
  readonly lowest: bigint;
  /** Highest value so far. */
  readonly peak: bigint;
  /** Largest fall below the peak on this day, in parts per million. */
  readonly drawdownPpm: number;
  readonly result: bigint;
  readonly poolValue: E8;
  readonly poolUnits: bigint;
  readonly dealId: bigint;
  readonly valuedAt: Date;
};

/** 1 USD: the value of a unit before the first result. */
export const FIRST_VALUE = 10n ** 18n;
const WHOLE_PPM = 1_000_000n;
const DAY_LENGTH = "2026-01-31".length;

/**
 * The last day as each valuation leaves it, in their order. A valuation that is dated before the last day counts in that one, so that days
 * before never change. Undefined where units without a value change nothing: they are issued anew before the next result.
 */
export function chainValuations(
  last: PerformanceDay | undefined,
  valuations: readonly Valuation[],
): (PerformanceDay | undefined)[] {
  let current = last;
  return valuations.map((valuation) => {
    if (valuation.before <= 0n) return undefined;
    current = add(current, valuation);
    return current;
  });
}

/** Each day as the last valuation of it has left it. */
export function daysOf(chain: readonly (PerformanceDay | undefined)[]): PerformanceDay[] {
  const known = chain.filter((day) => day !== undefined);
  return [...new Map(known.map((day) => [day.day, day])).values()];
}

/** How far the value of a unit is below its highest value so far, in parts per million. */
export function fallOf({ value, peak }: Pick<PerformanceDay, "value" | "peak">): number {
  return Number(((peak - value) * WHOLE_PPM) / peak);
}

function add(last: PerformanceDay | undefined, valuation: Valuation): PerformanceDay {
  const own = valuation.at.toISOString().slice(0, DAY_LENGTH);
  const isNew = last === undefined || own > last.day;
  // After a total loss the value begins again.
  const start = last === undefined || last.value === 0n ? FIRST_VALUE : last.value;
  const value = valuation.after > 0n ? (start * valuation.after) / valuation.before : 0n;
  const peak = largest(start, last === undefined || last.value === 0n ? 0n : last.peak, value);
  const drawdownPpm = fallOf({ value, peak });
  return {
    day: isNew ? own : last.day,
    value,
    lowest: isNew || value < last.lowest ? value : last.lowest,
    peak,
    drawdownPpm: isNew ? drawdownPpm : Math.max(last.drawdownPpm, drawdownPpm),
    result: (isNew ? 0n : last.result) + valuation.result,
    poolValue: valuation.after,
    poolUnits: valuation.units,
    dealId: valuation.dealId,
    valuedAt: valuation.at,
  };
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((left, right) => (right > left ? right : left));
}
