import type { ResultEvent, WeekEvent } from "./advance-pool.ts";
import type { MasterDeal } from "./master-deal.ts";
import { valueOfUnits } from "./pool/equity.ts";
import { type Mark, valuePositions } from "./pool/strike-pool.ts";
import type { E8, UnitPool } from "./pool/unit-pool.ts";
import { allHoldings, totalUnits } from "./pool/units.ts";

/** A change of the value of all units that no deposit, withdrawal or fee has made. */
export type Valuation = {
  readonly at: Date;
  /** The last deal of the Master that it contains. */
  readonly dealId: bigint;
  /** The value of the same units before and after, with the last known results of open positions. */
  readonly before: E8;
  readonly after: E8;
  readonly units: bigint;
  /** Positions are open after it: what is worth nothing now may be worth something again. */
  readonly isOpen: boolean;
  /** Cents; 0 for marks. */
  readonly result: bigint;
};

/** What of the events of a pool its value depends on. */
type ValuedEvent =
  | Pick<WeekEvent, "kind">
  | (Pick<ResultEvent, "kind" | "before" | "pool"> &
      Partial<Pick<ResultEvent, "raised">> & {
        readonly deal: Pick<MasterDeal, "dealAt" | "dealId" | "amount">;
      });

/** How results have changed the value of the units of a pool. */
export function valuationsOf(events: readonly ValuedEvent[]): Valuation[] {
  let known: { readonly pool: UnitPool; readonly value: E8 } | undefined;
  const valueOf = (pool: UnitPool): E8 => {
    if (known?.pool !== pool) known = { pool, value: valueOfUnits(pool) };
    return known.value;
  };
  return events.flatMap((event) => {
    if (event.kind === "week") return [];
    const { dealAt: at, dealId, amount } = event.deal;
    const result = amount - (event.raised?.total ?? 0n);
    const before = valueOf(event.before);
    const after = valueOf(event.pool);
    return [{ at, dealId, before, after, ...factsOf(event.pool), result }];
  });
}

/** How the marks of the open positions change the value of the units of a pool. */
export function valuationsOfMarks(
  pool: UnitPool,
  marks: readonly Mark[],
  { at, dealId }: Pick<Valuation, "at" | "dealId">,
): Valuation[] {
  if (marks.length === 0) return [];
  const after = valueOfUnits(valuePositions(pool, marks));
  return [{ at, dealId, before: valueOfUnits(pool), after, ...factsOf(pool), result: 0n }];
}

function factsOf(pool: UnitPool): Pick<Valuation, "units" | "isOpen"> {
  return { units: totalUnits(allHoldings(pool)), isOpen: pool.positions.length > 0 };
}

/** The value of a unit on one day, in 1e-18 USD. */
export type PerformanceDay = {
  /** Such as 2026-01-31. */
  readonly day: string;
  readonly value: bigint;
  /** Of all valuations of the day. 0 when everything was lost, and only then. */
  readonly lowest: bigint;
  readonly highest: bigint;
  /** Highest value so far. */
  readonly peak: bigint;
  /** Largest fall on this day below the peak, in parts per million. */
  readonly drawdownPpm: number;
  /** Largest fall on this day below a higher value before it on the same day, in parts per million. */
  readonly fallPpm: number;
  readonly result: bigint;
  readonly poolValue: E8;
  readonly poolUnits: bigint;
  readonly dealId: bigint;
  readonly valuedAt: Date;
};

/** What is stored: the part of a day that is the same day in UTC and on the trade server, so that both kinds of days are made of such parts. */
export type DayPart = PerformanceDay & {
  readonly serverDay: string;
  /** The value of all units that `value` belongs to, while open positions have made them worthless since. */
  readonly worth: E8 | undefined;
};

/** The days of the trade server, such as 2026-01-31. */
export type ServerDays = { readonly dayOf: (at: Date) => string };

/** 1 USD: the value of a unit before the first result. */
export const FIRST_VALUE = 10n ** 18n;
export const WHOLE_PPM = 1_000_000;
const DAY_LENGTH = "2026-01-31".length;

/**
 * The last part of a day as each valuation leaves it, in their order. A valuation that is dated before the last part counts in that one, so
 * that days before never change. Undefined where units without a value change nothing: they are issued anew before the next result.
 */
export function chainValuations(
  last: DayPart | undefined,
  valuations: readonly Valuation[],
  serverDays: ServerDays,
): (DayPart | undefined)[] {
  let current = last;
  return valuations.map((valuation) => {
    const before = valuation.before > 0n ? valuation.before : current?.worth;
    if (before === undefined) return undefined;
    current = add(current, { ...valuation, before }, serverDays);
    return current;
  });
}

/** Each part of a day as the last valuation of it has left it. */
export function partsOf(chain: readonly (DayPart | undefined)[]): DayPart[] {
  const known = chain.filter((part) => part !== undefined);
  return [...new Map(known.map((part) => [`${part.day} ${part.serverDay}`, part])).values()];
}

/** Parts of days, ascending, as days of the calendar that names them. */
export function joinDays(parts: readonly DayPart[], dayOf: (part: DayPart) => string): PerformanceDay[] {
  const days = new Map<string, PerformanceDay>();
  for (const { serverDay: _, worth: __, ...part } of parts.map((each) => ({ ...each, day: dayOf(each) }))) {
    const known = days.get(part.day);
    days.set(part.day, known === undefined ? part : joined(known, part));
  }
  return [...days.values()];
}

function joined(left: PerformanceDay, right: PerformanceDay): PerformanceDay {
  return {
    ...right,
    lowest: smallest(left.lowest, right.lowest),
    highest: largest(left.highest, right.highest),
    drawdownPpm: Math.max(left.drawdownPpm, right.drawdownPpm),
    fallPpm: Math.max(left.fallPpm, right.fallPpm, fall(left.highest, right.lowest)),
    result: left.result + right.result,
  };
}

/** The largest fall of a period below a higher value before it in the period, in parts per million; its first value is that before it. */
export function maxDrawdown(opening: bigint, days: readonly PerformanceDay[]): number {
  let peak = opening;
  let most = 0;
  for (const { lowest, highest, fallPpm } of days) {
    most = Math.max(most, fallPpm, fall(peak, lowest));
    peak = largest(peak, highest);
  }
  return most;
}

/** How far the value of a unit is below its highest value so far, in parts per million. */
export function fallOf({ value, peak, worth }: Pick<DayPart, "value" | "peak" | "worth">): number {
  return worth === undefined ? fall(peak, value) : WHOLE_PPM;
}

function fall(from: bigint, to: bigint): number {
  return to >= from ? 0 : Number(((from - to) * BigInt(WHOLE_PPM)) / from);
}

function add(last: DayPart | undefined, valuation: Valuation, serverDays: ServerDays): DayPart {
  const { at, before, after, isOpen } = valuation;
  const own = { day: at.toISOString().slice(0, DAY_LENGTH), serverDay: serverDays.dayOf(at) };
  const isNew = last === undefined || own.day > last.day || own.serverDay > last.serverDay;
  // After a total loss the value begins again.
  const isAnew = last === undefined || last.value === 0n;
  const start = isAnew ? FIRST_VALUE : last.value;
  const isWorthless = after <= 0n && isOpen;
  const value = isWorthless ? start : after > 0n ? (start * after) / before : 0n;
  const worth = isWorthless ? before : undefined;
  const peak = largest(start, isAnew ? 0n : last.peak, value);
  const drawdownPpm = fallOf({ value, peak, worth });
  const highest = isNew ? value : largest(last.highest, value);
  const fallPpm = isWorthless ? WHOLE_PPM : fall(highest, value);
  return {
    day: isNew ? latest(last?.day, own.day) : last.day,
    serverDay: isNew ? latest(last?.serverDay, own.serverDay) : last.serverDay,
    value,
    lowest: isNew ? value : smallest(last.lowest, value),
    highest,
    peak,
    drawdownPpm: isNew ? drawdownPpm : Math.max(last.drawdownPpm, drawdownPpm),
    fallPpm: isNew ? fallPpm : Math.max(last.fallPpm, fallPpm),
    result: (isNew ? 0n : last.result) + valuation.result,
    poolValue: after,
    poolUnits: valuation.units,
    dealId: valuation.dealId,
    valuedAt: at,
    worth,
  };
}

function latest(left: string | undefined, right: string): string {
  return left !== undefined && left > right ? left : right;
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((left, right) => (right > left ? right : left));
}

function smallest(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
