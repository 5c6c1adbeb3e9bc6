import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import type { Deps } from "./deps.ts";
import { findLatestOfPair, type Subscription } from "./store/subscriptions.ts";
import { neverAssigned, type Pair } from "./domain/departure-reasons.ts";

/** The last subscription of an Investor to a Master. Refuses when there was none, or account does not know one of the two. */
export async function getLatestOfPair(
  { pool, accounts }: Pick<Deps, "pool" | "accounts">,
  { masterLogin, investorLogin }: Pair,
  context: CallContext,
): Promise<Subscription> {
  const subscription = await findLatestOfPair(pool, { masterLogin, investorLogin });
  if (subscription !== undefined) return subscription;
  await accounts.findMaster({ login: masterLogin }, queryContext(context));
  await accounts.findInvestor({ login: investorLogin }, queryContext(context));
  throw neverAssigned({ masterLogin, investorLogin });
}
