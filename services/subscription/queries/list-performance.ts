import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { pageOf } from "#kernel/page.ts";
import type { ListPerformanceRequest, ListPerformanceResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import type { PerformanceDay } from "../domain/performance.ts";
import { type Check, isBetween, isLogin, validate, wrong } from "../domain/validate.ts";
import { findValueBefore, listDays } from "../store/performance.ts";

const MAX_DAYS = 366;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The value of a unit by day. */
export async function listPerformance(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, from, to, limit }: ListPerformanceRequest,
): Promise<ListPerformanceResponse> {
  validate(
    isLogin("master_login", masterLogin),
    isDay("from", from),
    isDay("to", to),
    isBetween("limit", limit, 1, MAX_DAYS),
  );
  const { items, hasMore } = pageOf(await listDays(pool, { masterLogin, from, to, limit: limit + 1 }), limit);
  const before = await findValueBefore(pool, masterLogin, from);
  return { days: items.map(dayMessage), hasMore, openingValue: before?.toString() ?? "" };
}

function isDay(field: string, text: string): Check {
  return DAY.test(text) ? undefined : wrong(field, "malformed", "must be a day such as 2026-01-31");
}

export function dayMessage({ value, lowest, peak, poolValue, poolUnits, result, ...day }: PerformanceDay) {
  return {
    ...day,
    value: value.toString(),
    lowest: lowest.toString(),
    peak: peak.toString(),
    result: moneyToProto(usd(result)),
    poolValueE8: poolValue.toString(),
    poolUnits: poolUnits.toString(),
  };
}
