import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { addInvestor, addMaster, type InvestorFacts } from "../store/investor-facts.ts";

/**
 * Asks the owners for the facts about an Investor: before its first deposit, and when its events are older than this database or
 * have not arrived yet. Refusal: investor_not_found.
 */
export async function askFacts(
  { pool, accounts, subscriptions }: Deps,
  login: string,
  context: CallContext,
): Promise<InvestorFacts> {
  await accounts.findInvestor({ login }, queryContext(context));
  const { subscription } = await subscriptions.findOpenSubscription({ investorLogin: login }, queryContext(context));
  const masterLogin = subscription?.status === SubscriptionStatus.ACTIVE ? subscription.masterLogin : undefined;
  const master = masterLogin && (await accounts.findMaster({ login: masterLogin }, queryContext(context)));
  const masterMinimum = master ? moneyFromProto(master.minDeposit, "min_deposit") : undefined;
  if (masterLogin !== undefined && masterMinimum !== undefined) await addMaster(pool, masterLogin, masterMinimum);
  await addInvestor(pool, { login, masterLogin });
  return { masterMinimum, masterLogin };
}
