import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { inBatches } from "#kernel/batches/in-batches.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

/** The services that know which accounts must not trade. */
export type TradingUse = Pick<Client<SubscriptionServiceService>, "findPooled"> &
  Pick<Client<AccountServiceService>, "findPaymentAccounts">;

/** Accounts that must not trade: Investors in a pool and payment accounts, and those that are about to become that. */
export type InUse = { readonly now: ReadonlySet<string>; readonly soon: ReadonlySet<string> };

type Asked = { readonly login: string; readonly role: string | undefined };

/** While the services are asked for the last time, the account is locked. */
const CALL_MS = 2_000;

/** One that is not managed can only become a payment account. */
export async function askTradingUse(services: TradingUse, accounts: readonly Asked[]): Promise<InUse> {
  const use = { now: new Set<string>(), soon: new Set<string>() };
  for (const page of inBatches(accounts, MAX_PAGE_SIZE)) {
    const context = callContext({ caller: "platform", withinMs: CALL_MS });
    const investorLogins = page.filter(({ role }) => role === "investor").map(({ login }) => login);
    const logins = page.filter(({ role }) => role !== "investor").map(({ login }) => login);
    const [{ pooled, joining }, { inUse, becoming }] = await Promise.all([
      investorLogins.length === 0 ? { pooled: [], joining: [] } : services.findPooled({ investorLogins }, context),
      logins.length === 0 ? { inUse: [], becoming: [] } : services.findPaymentAccounts({ logins }, context),
    ]);
    for (const login of [...pooled, ...inUse]) use.now.add(login);
    for (const login of [...joining, ...becoming]) use.soon.add(login);
  }
  return use;
}
