import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import type { GetActiveMasterRequest, GetActiveMasterResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isInPool } from "../domain/lifecycle.ts";
import { findOpenSubscription } from "../store/subscriptions.ts";

/** The Master that an Investor follows now. Refuses an unknown Investor. */
export async function getActiveMaster(
  { pool, accounts }: Deps,
  { investorLogin }: GetActiveMasterRequest,
  context: CallContext,
): Promise<GetActiveMasterResponse> {
  const open = await findOpenSubscription(pool, investorLogin);
  if (open === undefined || !isInPool(open.status)) {
    await failAsUnavailable(() => accounts.findInvestor({ login: investorLogin }, context));
    return { masterLogin: undefined, name: undefined, startedAt: undefined };
  }
  const { name } = await failAsUnavailable(() => accounts.findMaster({ login: open.masterLogin }, context));
  return { masterLogin: open.masterLogin, name, startedAt: open.startedAt ?? undefined };
}
