import { pageOf } from "#kernel/page.ts";
import type {
  ReadAllocationRowsRequest,
  ReadAllocationRowsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { isBetween, isLogin, isNotNegative, validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { listRows } from "../store/allocations.ts";

const MAX_ROWS = 5_000;

/** The Investors' parts of a range of allocation entries. */
export async function readAllocationRows(
  { pool }: Deps,
  request: ReadAllocationRowsRequest,
): Promise<ReadAllocationRowsResponse> {
  const { masterLogin, afterNumber, afterSubscriptionId, throughNumber, limit } = request;
  validate(
    isLogin("master_login", masterLogin),
    isNotNegative("after_number", afterNumber),
    isNotNegative("after_subscription_id", afterSubscriptionId),
    isNotNegative("through_number", throughNumber),
    isBetween("limit", limit, 1, MAX_ROWS),
  );
  const range = { masterLogin, afterNumber, afterSubscriptionId, throughNumber, limit: limit + 1 };
  const { items, hasMore } = pageOf(await listRows(pool, range), limit);
  const rows = items.map(({ number, subscriptionId, investorLogin, amount, floating }) => ({
    number,
    subscriptionId,
    investorLogin,
    amountMinor: amount,
    floatingE8: floating,
  }));
  return { rows, hasMore };
}
