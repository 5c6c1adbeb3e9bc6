import type { Static } from "typebox";
import { systemClock } from "#kernel/values/clock.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { CreditedDay } from "#proto/pamm/fee/v1/fee.ts";
import type { PerformanceDay } from "#proto/pamm/subscription/v1/subscription.ts";
import { decimal, list, model, nullableDecimal, nullableInteger, string } from "../../fields/field.ts";
import { at, ofWhole, optional, shown } from "../../fields/message.ts";
import { currencyReply, masterLoginReply, moneyReply, nullableTimeReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { masterLogin } from "../schemas/request-fields.ts";
import { CENT_SCALE, centsNumber, E8_SCALE, jsonInteger, type JsonNumber, scaledNumber } from "../../wire/number.ts";
import { nullableTimestamp } from "../../wire/timestamp.ts";
import {
  dayKind,
  daysErrors,
  daysOf,
  DEFAULT_PERIOD_DAYS,
  endDay,
  firstDay,
  MAX_PERIOD_DAYS,
  periodOf,
} from "./periods.ts";

/** Values of a unit are whole numbers of 1e-18 USD, shown with eight decimals. */
const VALUE_SCALE = 18;
const DECIMALS = 8;
const ONE = 10n ** BigInt(VALUE_SCALE);
const PPM_SCALE = 6;

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

export const getPerformance = route("GET /api/v1/info/master/:master_login/performance", {
  scope: "masters:read",
  summary: "Get a Master's performance",
  description: `Value of a unit of the Master's pool by day, for at most ${MAX_PERIOD_DAYS} days, before performance fees; without \`from\` and \`to\` of the last ${DEFAULT_PERIOD_DAYS} days, today included. Deposits, withdrawals and fees buy or redeem units and do not change their value, so the return is time-weighted. The value is that of equity: a pool is valued by each result, and by its open positions whenever an Investor joins or leaves and at least once an hour while positions are open. While the trading platform cannot be read there is no valuation, and none is made up afterwards. A unit is worth 1 USD before the first result; units that are issued anew do not change it. When everything was lost, a period that contains it has the return -1 and the drawdown 1 whatever came afterwards, and the next capital begins with 1 USD again. Days without a valuation and without fees are left out. Values are kept since the upgrade to the first version with this route, and begin with 1 then.`,
  returns: "The performance of the period.",
  params: { master_login: masterLogin },
  query: {
    from: optional(firstDay),
    to: optional(endDay),
    day: optional(dayKind),
  },
  reply: PerformanceReply,
  refusals: ["master_not_found"],
  check: ({ query }, deps) => daysErrors(query, deps, systemClock(), MAX_PERIOD_DAYS),

  async call(deps, { masterLogin, ...query }, context) {
    const period = daysOf(query, deps, systemClock());
    const isServer = period.day === "server";
    const { from, to } = period;
    const timeZone = isServer ? (deps.serverClock?.zone ?? "") : "";
    const [performance, credited] = await Promise.all([
      deps.subscriptions.listPerformance(
        { masterLogin, from, to, serverDays: isServer, limit: MAX_PERIOD_DAYS },
        context,
      ),
      deps.fees.sumPaymentCredits({ masterLogin, ...periodOf(period, deps), timeZone }, context),
      deps.accounts.findMaster({ login: masterLogin }, context),
    ]);
    return { ...performance, masterLogin, from, to, credited: credited.days };
  },
});
