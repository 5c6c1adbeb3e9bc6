import { LOST_PLACE, pageOf } from "#kernel/page.ts";
import type {
  SearchSubscriptionsRequest,
  SearchSubscriptionsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { VISIBLE_STATUSES } from "../domain/lifecycle.ts";
import { isNotNegative, validate } from "../domain/validate.ts";
import { STATUS_OF_MESSAGE, subscriptionMessage } from "../messages/subscription.ts";
import { refuse } from "../refusals.ts";
import { hasStarted, listSubscriptionsByStart } from "../store/subscription-search.ts";
import { isPageSize } from "./page.ts";

/** A page of subscriptions, newest first. */
export async function searchSubscriptions(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, investorLogin, status, from, to, beforeId, limit }: SearchSubscriptionsRequest,
): Promise<SearchSubscriptionsResponse> {
  validate(isNotNegative("before_id", beforeId), isPageSize(limit));
  const wanted = STATUS_OF_MESSAGE[status];
  const statuses = wanted === undefined ? VISIBLE_STATUSES : [wanted];
  const search = { masterLogin, investorLogin, statuses, from, to, beforeId, limit: limit + 1 };
  const rows = await listSubscriptionsByStart(pool, search);
  if (rows.length === 0 && beforeId !== 0n && !(await hasStarted(pool, beforeId))) {
    throw refuse("invalid_cursor", LOST_PLACE.message, { errors: [LOST_PLACE] });
  }
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(subscriptionMessage), hasMore };
}
