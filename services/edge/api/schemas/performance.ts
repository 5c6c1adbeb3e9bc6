import type { Static } from "typebox";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { CreditedDay } from "#proto/pamm/fee/v1/fee.ts";
import type { PerformanceDay } from "#proto/pamm/subscription/v1/subscription.ts";
import { jsonInteger, type JsonNumber } from "../../wire/json-number.ts";
import { centsNumber, scaledNumber } from "../../wire/scaled.ts";
import { nullableTimestamp } from "../../wire/timestamp.ts";
import { currencyReply } from "../../fields/currency.ts";
import { decimal, list, model, nullableDecimal, nullableInteger, string } from "../../fields/field.ts";
import { at, ofWhole, shown } from "../../fields/message.ts";
import { masterLoginReply, moneyReply, nullableTimeReply } from "../../fields/reply-fields.ts";

/** Values of a unit are whole numbers of 1e-18 USD, shown with eight decimals. */
const VALUE_SCALE = 18;
const DECIMALS = 8;
const ONE = 10n ** BigInt(VALUE_SCALE);
const PPM_SCALE = 6;
const CENT_SCALE = 2;
const E8_SCALE = 8;

const DAY = { shown: { format: "date" } };

const PointReply = model("PerformancePoint", "A Master's performance on one day.", {
  day: string({ description: "Day, of the clock that the request names.", example: "2026-01-02", ...DAY }),
  nav_per_unit: nullableDecimal({
    description: "Value of a unit at the end of the day; null before the pool was valued for the first time.",
    example: 1.045,
  }),
  change: nullableDecimal({
    description:
      "Time-weighted return of the day: 0.01 is 1 %. -1 when everything was lost on it. Null like `nav_per_unit`, and after a total loss until something was invested anew.",
    example: 0.01,
  }),
  drawdown: nullableDecimal({
    description:
      "Largest fall on this day below the highest value so far, also before the period: 0.05 is 5 %, and 1 when everything was lost. Null like `nav_per_unit`.",
    example: 0,
  }),
  result: moneyReply("Results of the Master's deals; signed.", 450),
  fees: moneyReply("Performance fees that were collected from its Investors.", 30),
  pool_value: nullableDecimal({
    description: "Value of the whole pool after the last valuation, own capital included; null like `nav_per_unit`.",
    example: 1450,
  }),
  last_deal_id: nullableInteger({
    description: "Ticket of the last deal that the value contains; null like `nav_per_unit`.",
    example: 1_234_567,
  }),
  valued_at: nullableTimeReply("When the pool was valued; null like `nav_per_unit`."),
});

type Facts = {
  /** Empty when the pool was not valued before. */
  readonly openingValue: string;
  readonly days: readonly PerformanceDay[];
  readonly credited: readonly CreditedDay[];
};

export const PerformanceReply = model("Performance", "A Master's performance in a period.", {
  master_login: masterLoginReply(),
  from: string({ description: "First day.", example: "2026-01-01", ...DAY }),
  to: string({ description: "End of the period, exclusive.", example: "2026-02-01", ...DAY }),
  currency: currencyReply,
  opening_nav_per_unit: ofWhole(
    nullableDecimal({
      description: "Value of a unit before the period; null when the pool was not valued before.",
      example: 1,
    }),
    (facts: Facts) => valueNumber(openingOf(facts)),
  ),
  closing_nav_per_unit: ofWhole(
    nullableDecimal({ description: "Value of a unit at the end of it; null without a value.", example: 1.045 }),
    (facts: Facts) => valueNumber(closingOf(facts)),
  ),
  time_weighted_return: ofWhole(
    nullableDecimal({
      description:
        "Return of the period, the product of the growth between flows less 1: 0.045 is 4.5 %. -1 when everything was lost in it, whatever came afterwards. Null without a value, and when everything was lost before the period and nothing was invested anew.",
      example: 0.045,
    }),
    returnOf,
  ),
  max_drawdown: at(
    "maxDrawdownPpm",
    shown(
      decimal({
        description:
          "Largest fall of equity in the period below a higher value before it in the period, over all valuations: 0.6 is 60 %. The opening value counts as one.",
        example: 0,
      }),
      drawdownNumber,
    ),
  ),
  fees: ofWhole(moneyReply("Performance fees that were collected in the period.", 30), feesOf),
  points: ofWhole(list(PointReply, { description: "Ascending by day." }), pointsOf),
});

function openingOf({ openingValue }: Facts): bigint | undefined {
  return openingValue === "" ? undefined : BigInt(openingValue);
}

function closingOf(facts: Facts): bigint | undefined {
  return valueOf(facts.days.at(-1)) ?? openingOf(facts);
}

function returnOf(facts: Facts): JsonNumber | null {
  if (facts.days.some(isTotalLoss)) return LOST;
  const opening = openingOf(facts);
  return returnNumber(facts.days.length === 0 ? opening : investedAt(opening), closingOf(facts));
}

function feesOf({ credited }: Facts): JsonNumber {
  return centsNumber(credited.reduce((sum, { amount }) => sum + moneyFromProto(amount).minor, 0n));
}

/** The days with a value or with fees; on a day without a value it is that of the day before. */
function pointsOf(facts: Facts): Static<typeof PointReply>[] {
  const { days, credited } = facts;
  const valued = new Map(days.map((day) => [day.day, day]));
  const fees = new Map(credited.map(({ day, amount }) => [day, moneyFromProto(amount).minor]));
  let last: PerformanceDay | undefined;
  let value = openingOf(facts);
  return [...new Set([...valued.keys(), ...fees.keys()])].toSorted().map((day) => {
    const own = valued.get(day);
    const before = own === undefined ? value : investedAt(value);
    last = own ?? last;
    value = valueOf(own) ?? value;
    return {
      day,
      nav_per_unit: valueNumber(value),
      change: own !== undefined && isTotalLoss(own) ? LOST : returnNumber(before, value),
      drawdown: value === undefined ? null : drawdownNumber(own?.drawdownPpm ?? 0),
      result: centsNumber(own === undefined ? 0n : moneyFromProto(own.result).minor),
      fees: centsNumber(fees.get(day) ?? 0n),
      pool_value: last === undefined ? null : poolValueNumber(last.poolValueE8),
      last_deal_id: last === undefined ? null : jsonInteger(last.dealId),
      valued_at: nullableTimestamp(last?.valuedAt),
    };
  });
}

const LOST = jsonInteger(-1n);

function isTotalLoss({ lowest }: PerformanceDay): boolean {
  return lowest === "0";
}

/** At the beginning, and after a total loss, 1 USD is invested. */
function investedAt(value: bigint | undefined): bigint {
  return value === undefined || value === 0n ? ONE : value;
}

function valueOf(day: PerformanceDay | undefined): bigint | undefined {
  return day === undefined ? undefined : BigInt(day.value);
}

function valueNumber(value: bigint | undefined): JsonNumber | null {
  return value === undefined ? null : navNumber(value);
}

/** The value of a unit, in 1e-18 USD. */
export function navNumber(value: bigint): JsonNumber {
  return scaledNumber(value, VALUE_SCALE, DECIMALS);
}

/** Parts per million. */
export function drawdownNumber(ppm: number): JsonNumber {
  return scaledNumber(BigInt(ppm), PPM_SCALE, PPM_SCALE);
}

/** The value of a pool, in 1e-8 USD. */
export function poolValueNumber(e8: string): JsonNumber {
  return scaledNumber(BigInt(e8), E8_SCALE, CENT_SCALE);
}

function returnNumber(from: bigint | undefined, to: bigint | undefined): JsonNumber | null {
  if (from === undefined || to === undefined || from === 0n) return null;
  return scaledNumber(((to - from) * ONE) / from, VALUE_SCALE, DECIMALS);
}
