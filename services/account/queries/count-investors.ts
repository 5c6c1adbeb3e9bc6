import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";

/** How many active Investors each Master has; Masters without any are left out. */
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
