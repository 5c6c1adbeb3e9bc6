import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { pageOf } from "#kernel/values/page.ts";
import type {
  ListPerformanceRequest,
  ListPerformanceResponse,
  ListResultsRequest,
  ListResultsResponse,
  MasterResult,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { FIRST_VALUE, joinDays, maxDrawdown, type PerformanceDay } from "../domain/performance.ts";
import { type Check, isBetween, isLogin, isNotNegative, validate, wrong } from "../domain/validate.ts";
import { isPageSize } from "./page.ts";
import { findValueBefore, listParts } from "../store/performance.ts";
import { type AllocatedResult, findLastResultBefore, listResultsOf } from "../store/master-results.ts";

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

export function dayMessage({ value, lowest, poolValue, poolUnits, result, ...day }: PerformanceDay) {
  return {
    ...day,
    value: value.toString(),
    lowest: lowest.toString(),
    result: moneyToProto(usd(result)),
    poolValueE8: poolValue.toString(),
    poolUnits: poolUnits.toString(),
  };
}

const NEWEST = 2n ** 63n - 1n;

/** The results of a Master, newest first, each with the performance after it. */
export async function listResults(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, from, to, beforeLogNumber, limit }: ListResultsRequest,
): Promise<ListResultsResponse> {
  validate(
    isLogin("master_login", masterLogin),
    isNotNegative("before_log_number", beforeLogNumber),
    isPageSize(limit),
  );
  const after = from === undefined ? 0n : await findLastResultBefore(pool, masterLogin, from);
  const end = to === undefined ? NEWEST : (await findLastResultBefore(pool, masterLogin, to)) + 1n;
  const before = beforeLogNumber === 0n || beforeLogNumber > end ? end : beforeLogNumber;
  const rows = await listResultsOf(pool, { masterLogin, after, before, limit: limit + 1 });
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(resultMessage), hasMore };
}

function resultMessage({ value, drawdownPpm, poolValue, result, raised, ...known }: AllocatedResult): MasterResult {
  const isValued = value !== null && drawdownPpm !== null && poolValue !== null;
  return {
    ...known,
    result: moneyToProto(usd(result)),
    raised: moneyToProto(usd(raised)),
    valued: isValued ? { value, drawdownPpm, poolValueE8: poolValue } : undefined,
  };
}
