import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { addInvestor, addMaster } from "../store/investor-facts.ts";

/**
 * Asks the owners for what this service does not know of an Investor, because its events are older than this database or have
 * not arrived yet. Refusal: investor_not_found.
 */
export async function askFacts(
  { pool, accounts, subscriptions }: Deps,
  login: string,
  context: CallContext,
): Promise<void> {
  await accounts.findInvestor({ login }, queryContext(context));
  const { subscription } = await subscriptions.findOpenSubscription({ investorLogin: login }, queryContext(context));
  const masterLogin = subscription?.status === SubscriptionStatus.ACTIVE ? subscription.masterLogin : undefined;
  if (masterLogin !== undefined) {
    const { minDeposit } = await accounts.findMaster({ login: masterLogin }, queryContext(context));
    await addMaster(pool, masterLogin, moneyFromProto(minDeposit, "min_deposit"));
  }
  await addInvestor(pool, { login, masterLogin });
}
