import { moneyToProto } from "#kernel/contract/money.ts";
import { MAX_ENTRIES_PER_READ } from "#kernel/feed/read.ts";
import { usd } from "#kernel/money.ts";
import { pageOf } from "#kernel/page.ts";
import type {
  AllocationEntry as EntryMessage,
  ReadAllocationRowsRequest,
  ReadAllocationRowsResponse,
  ReadAllocationsRequest,
  ReadAllocationsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { isBetween, isLogin, isNotNegative, validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { type AllocationEntry, findLastNumber, listEntries, listRows } from "../store/allocations.ts";

/** Allocated results and closed weeks of a Master, by allocation number. */
export async function readAllocations(
  { pool }: Deps,
  { masterLogin, afterNumber, limit }: ReadAllocationsRequest,
): Promise<ReadAllocationsResponse> {
  validate(
    isLogin("master_login", masterLogin),
    isNotNegative("after_number", afterNumber),
    isBetween("limit", limit, 1, MAX_ENTRIES_PER_READ),
  );
  // Read before the entries, so that an entry that is committed in between does not look like a missing one.
  const before = await findLastNumber(pool, masterLogin);
  const entries = await listEntries(pool, { masterLogin, afterNumber, limit });
  const read = entries.at(-1)?.number ?? 0n;
  return { entries: entries.map(entryMessage), lastNumber: read > before ? read : before };
}

function entryMessage({ number, result, week }: AllocationEntry): EntryMessage {
  if (result !== undefined) {
    const { dealId, dealAt, amount } = result;
    return { number, entry: { $case: "result", value: { dealId, dealAt, result: moneyToProto(usd(amount)) } } };
  }
  return { number, entry: week && { $case: "week", value: week } };
}

/** The rows are small: five thousand fit into one message. */
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
