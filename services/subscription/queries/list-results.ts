import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { pageOf } from "#kernel/page.ts";
import type {
  ListResultsRequest,
  ListResultsResponse,
  MasterResult,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, isNotNegative, validate } from "../domain/validate.ts";
import { type AllocatedResult, findLastResultBefore, listResultsOf } from "../store/master-results.ts";
import { isPageSize } from "./page.ts";

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
