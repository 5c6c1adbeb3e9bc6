import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { pageOf } from "#kernel/page.ts";
import type {
  ListActiveInvestorsRequest,
  ListActiveInvestorsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { listActiveInvestors as list } from "../store/subscriptions.ts";
import { isCursor, isPageSize } from "./page.ts";

/** The Investors in a Master's pool now, with their names. */
export async function listActiveInvestors(
  { pool, accounts }: Deps,
  { masterLogin, afterInvestorId, limit }: ListActiveInvestorsRequest,
  context: CallContext,
): Promise<ListActiveInvestorsResponse> {
  validate(isCursor("after_investor_id", afterInvestorId), isPageSize("limit", limit));
  await failAsUnavailable(() => accounts.findMaster({ login: masterLogin }, context));
  const rows = await list(pool, { masterLogin, afterInvestorId, limit: limit + 1 });
  const { items: investors, hasMore } = pageOf(rows, limit);
  if (investors.length === 0) return { items: [], hasMore };
  const logins = investors.map(({ investorLogin }) => investorLogin);
  const known = await failAsUnavailable(() => accounts.findAccounts({ logins }, context));
  const names = new Map(known.accounts.map(({ login, name }) => [login, name]));
  const items = investors.map(({ investorId: id, investorLogin: login }) => ({
    id,
    login,
    name: names.get(login) ?? login,
  }));
  return { items, hasMore };
}
