import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { pageOf } from "#kernel/page.ts";
import type { ListPerformanceRequest, ListPerformanceResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { FIRST_VALUE, joinDays, maxDrawdown, type PerformanceDay } from "../domain/performance.ts";
import { type Check, isBetween, isLogin, validate, wrong } from "../domain/validate.ts";
import { findValueBefore, listParts } from "../store/performance.ts";

const MAX_DAYS = 366;
/** A day begins within a day of the other kind and ends within the next; a change of the server's zone may make one more. */
const PARTS_PER_DAY = 3;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The value of a unit by day. After a total loss it is that of what was invested anew. */
export async function listPerformance(
  { pool, serverDays }: Pick<Deps, "pool" | "serverDays">,
  { masterLogin, from, to, limit, serverDays: isServer }: ListPerformanceRequest,
): Promise<ListPerformanceResponse> {
  validate(
    isLogin("master_login", masterLogin),
    isDay("from", from),
    isDay("to", to),
    isBetween("limit", limit, 1, MAX_DAYS),
    isServer && serverDays === undefined
      ? wrong("server_days", "unknown_value", "MT5_TIME_ZONE is not set")
      : undefined,
  );
  const range = { masterLogin, from, to, isServer, limit: PARTS_PER_DAY * (limit + 1) };
  const parts = await listParts(pool, range);
  const { items, hasMore } = pageOf(joinDays(parts, isServer ? ({ serverDay }) => serverDay : ({ day }) => day), limit);
  const before = await findValueBefore(pool, range);
  return {
    days: items.map(dayMessage),
    hasMore,
    openingValue: before?.toString() ?? "",
    maxDrawdownPpm: maxDrawdown(before === undefined || before === 0n ? FIRST_VALUE : before, items),
  };
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
