import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { FindPaymentAccountsRequest, FindPaymentAccountsResponse } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { listPaymentAccounts } from "../store/payment-account-changes.ts";

/** A change is recorded after platform has taken the account over, but before fees are paid to it. */
export async function findPaymentAccounts(
  { pool }: Pick<Deps, "pool">,
  { logins }: FindPaymentAccountsRequest,
): Promise<FindPaymentAccountsResponse> {
  if (logins.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has at most ${MAX_PAGE_SIZE} logins.`);
  }
  return await listPaymentAccounts(pool, logins);
}
