import { DAY_MS } from "#kernel/values/duration.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { PerformanceDay } from "#proto/pamm/subscription/v1/subscription.ts";
import { aCalculation, anExplanation, aPayment } from "../../../services/edge/api/samples/fee.ts";
import { aMasterResult, aPerformanceDay, aStatementLine } from "../../../services/edge/api/samples/history.ts";
import { AT, cents } from "../../../services/edge/api/samples/values.ts";

const END = Date.UTC(2026, 10, 26);
/** One day stands out, so that it is seen whether a drawing has it. */
export const SPIKE = 0.75;
const WEEK_MS = 7 * DAY_MS;
/** The sum of the layers of each payment. */
const WEEKLY_RESULT = 421_37n;
const RESULT_EVERY_MS = 500;

export function dayNumber(index: number, count: number): PerformanceDay {
  const isSpike = index === Math.floor(count * SPIKE);
  const e6 = isSpike ? 3_000_000 : 1_000_000 + Math.round(100_000 * Math.sin(index / 9) + (index % 5) * 4_000);
  const at = new Date(END - (count - 1 - index) * DAY_MS);
  return aPerformanceDay({
    day: at.toISOString().slice(0, 10),
    value: `${e6}000000000000`,
    drawdownPpm: Math.max(0, 1_100_000 - e6),
    result: cents(BigInt(Math.round(50_000 * Math.cos(index / 9)))),
    poolValueE8: `${e6}000000`,
    valuedAt: at,
  });
}

/** Newest first, each half a second after the one before, with the course of the days. */
export function resultPage(count: number, before: bigint, limit: number) {
  const end = before === 0n ? count : Number(before) - 1;
  const items = Array.from({ length: Math.min(limit, end) }, (_, passed) => {
    const index = end - 1 - passed;
    const { value, drawdownPpm, poolValueE8, result } = dayNumber(index, count);
    const number = BigInt(index + 1);
    const at = new Date(END - (count - 1 - index) * RESULT_EVERY_MS);
    const own = { number, logNumber: number, dealId: 1_000_000n + number, dealAt: at, allocatedAt: at, result };
    return aMasterResult({ ...own, valued: { value, drawdownPpm, poolValueE8 } });
  });
  return { items, hasMore: items.length < end };
}

export function paymentNumber(index: number) {
  const end = new Date(END - index * WEEK_MS);
  const run = BigInt(100 - index);
  return aPayment({
    id: BigInt(1_000 - index),
    runId: run,
    runPeriodStart: new Date(end.getTime() - WEEK_MS),
    runPeriodEnd: end,
    executedAt: end,
    cashflowUniqueKey: `PF:3000003:3000001:${run}:W`,
  });
}

export function explanationOf(paymentId: bigint, line: string) {
  const weeks = Number(paymentId) - 940;
  const times = { earnedFrom: AT, earnedTo: AT };
  const charged = [
    { ...times, amount: "120.00", rate: "0.300000", versionId: 16n, share: "36.00" },
    { ...times, amount: "301.37", rate: "0.275000", versionId: 17n, share: "82.87675" },
  ];
  const at = new Date(END - (60 - weeks) * WEEK_MS);
  const resultAfter = (count: number): string => formatMinor(BigInt(count) * WEEKLY_RESULT);
  const earned = resultAfter(weeks);
  const calculation = aCalculation({ at, charged, earned, markBefore: resultAfter(weeks - 1), markAfter: earned });
  return anExplanation({ paymentId, calculation, lines: [line, "The exact fee is rounded down once, to the cent."] });
}

export function statementPage(count: number, after: bigint, limit: number) {
  const first = Number(after) + 1;
  const last = Math.min(count, Number(after) + limit);
  const lines = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const number = first + index;
    const line = aStatementLine(BigInt(number), 100n, BigInt(number) * 100n);
    return { ...line, loggedAt: new Date(END - (count - number) * 60_000) };
  });
  const balance = (number: number) => ({ number: BigInt(number), balance: cents(BigInt(number) * 100n) });
  return {
    role: AccountRole.INVESTOR,
    opening: balance(first - 1),
    closing: balance(Math.max(first - 1, last)),
    lines,
    hasMore: last < count,
  };
}
