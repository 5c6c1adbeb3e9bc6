import { moneyToProto } from "#kernel/contract/money.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { usd } from "#kernel/values/money.ts";
import type {
  AllocationPosition,
  InvestorAllocation,
  ListInvestorAllocationsRequest,
  ListInvestorAllocationsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import {
  type AllocatedSubscription,
  type EntryOfInvestor,
  findLastAllocatedBefore,
  findSubscriptionUpTo,
  listEntriesOfInvestor,
} from "../store/investor-allocations.ts";
import { isLogin, validate } from "../domain/validate.ts";
import { isPageSize } from "./page.ts";

/** Entries of Masters without a part of the Investor, and subscriptions without entries, that one page passes over. */
const MAX_READS = 10;
/** Entries are dated by the clocks of replicas, subscriptions too. */
const CLOCKS_DIFFER_MS = 5 * MINUTE_MS;
const NEWEST = 2n ** 63n - 1n;

/**
 * The parts of an Investor in results, newest first, over all its subscriptions. Entries are looked at one after the other, so the work of a
 * page is limited wherever it is; where an Investor has few parts, a page may have fewer than its limit.
 */
export async function listInvestorAllocations(
  { pool }: Pick<Deps, "pool">,
  request: ListInvestorAllocationsRequest,
): Promise<ListInvestorAllocationsResponse> {
  const { investorLogin, limit, from, to } = request;
  validate(isLogin("investor_login", investorLogin), isPageSize(limit));
  const items: InvestorAllocation[] = [];
  let next: AllocationPosition | undefined = request.before ?? { subscriptionId: NEWEST, number: NEWEST };
  for (let reads = 0; reads < MAX_READS && next !== undefined && items.length < limit; reads += 1) {
    const before: AllocationPosition = next;
    const subscription = await findSubscriptionUpTo(pool, investorLogin, before.subscriptionId);
    if (subscription === undefined) return { items, next: undefined };
    const { id: subscriptionId, masterLogin, startedAt, leftNumber } = subscription;
    const begun = new Date(startedAt.getTime() - CLOCKS_DIFFER_MS);
    const range = {
      masterLogin,
      subscriptionId,
      after: await findLastAllocatedBefore(pool, masterLogin, from !== undefined && from > begun ? from : begun),
      through: to === undefined ? NEWEST : await findLastAllocatedBefore(pool, masterLogin, to),
      before: before.subscriptionId === subscriptionId ? before.number : NEWEST,
      left: leftNumber ?? NEWEST,
    };
    const wanted = limit - items.length;
    // One more than can be needed, so that the last page is known as such.
    const entries = await listEntriesOfInvestor(pool, { ...range, limit: wanted + 1 });
    const read = entries.slice(0, wanted);
    items.push(...read.flatMap((entry) => allocationOf(subscription, entry)));
    const last = read.at(-1);
    if (entries.length > wanted && last !== undefined) next = { subscriptionId, number: last.number };
    // Also before the period: a subscription that has ended can have a part in a later repair.
    else next = { subscriptionId: subscriptionId - 1n, number: NEWEST };
  }
  const isOver = next?.number === NEWEST && !(await findSubscriptionUpTo(pool, investorLogin, next.subscriptionId));
  return { items, next: isOver ? undefined : next };
}

function allocationOf({ id, masterLogin }: AllocatedSubscription, entry: EntryOfInvestor): InvestorAllocation[] {
  const { amount, result, ...known } = entry;
  if (amount === null) return [];
  const money = { amount: moneyToProto(usd(amount)), result: moneyToProto(usd(result)) };
  return [{ ...known, ...money, subscriptionId: id, masterLogin }];
}
