import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { CloseMasterRequest, Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { countInvestorsOf, getMasterById, masterMessage } from "../directory.ts";

/** Begins to close a Master. The pool belongs to subscription, which decides and records it, once for each Master. */
export async function closeMaster(
  deps: Deps,
  { id }: CloseMasterRequest,
  context: CallContext,
): Promise<MasterMessage> {
  const master = await getMasterById(deps, id);
  // Counted before: a failure afterwards would hide from the caller that the closing has begun.
  const investorsCount = await countInvestorsOf(deps, master.login, context);
  const { commandId } = context;
  await deps.subscriptions.closeMaster({ masterLogin: master.login }, childContext(context, { commandId }));
  return masterMessage(master, investorsCount);
}
