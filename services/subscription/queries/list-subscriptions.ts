import { pageOf } from "#kernel/page.ts";
import type { ListSubscriptionsRequest, ListSubscriptionsResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { STATUS_OF_MESSAGE, subscriptionMessage } from "../messages/subscription.ts";
import { validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { VISIBLE_STATUSES } from "../domain/lifecycle.ts";
import { listSubscriptions as list } from "../store/subscriptions.ts";
import { isCursor, isPageSize } from "./page.ts";

/** Lists subscriptions. Unknown logins match no subscription, so the account service is not called. */
export async function listSubscriptions(
  { pool }: Deps,
  { masterLogin, investorLogin, status, afterId, limit }: ListSubscriptionsRequest,
): Promise<ListSubscriptionsResponse> {
  validate(isCursor("after_id", afterId), isPageSize("limit", limit));
  const wanted = STATUS_OF_MESSAGE[status];
  const statuses = wanted === undefined ? VISIBLE_STATUSES : [wanted];
  const rows = await list(pool, { masterLogin, investorLogin, statuses, afterId, limit: limit + 1 });
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(subscriptionMessage), hasMore };
}
