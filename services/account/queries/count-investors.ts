import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";

/** The number of active Investors of each Master; Masters without any are left out. */
export async function countInvestors(
  { subscriptions }: Deps,
  masterLogins: readonly string[],
  context: CallContext,
): Promise<Map<string, bigint>> {
  if (masterLogins.length === 0) {
    return new Map();
  }
  const { counts } = await subscriptions.countActiveInvestors({ masterLogins: [...masterLogins] }, context);
  return new Map(counts.map(({ masterLogin, investors }) => [masterLogin, investors]));
}

/** The number of one Master, for a command: the query does not carry its command id. */
export async function countInvestorsOf(deps: Deps, masterLogin: string, context: CallContext): Promise<bigint> {
  const counts = await countInvestors(deps, [masterLogin], childContext(context));
  return counts.get(masterLogin) ?? 0n;
}
