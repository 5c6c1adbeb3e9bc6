import type { CallContext } from "#kernel/contract/contract.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import type { ListVersionsRequest, ListVersionsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { madeBy, presentOf, stateOf } from "../domain/timeline.ts";
import { versionMessage } from "../messages/version.ts";
import { listEntries } from "../store/configurations.ts";

/** The versions of an Investor, the newest first. The state of each follows from the whole timeline, so each page costs the same. */
export async function listVersions(
  { pool, accounts, now }: Pick<Deps, "pool" | "accounts" | "now">,
  { investorLogin, beforeId, limit }: ListVersionsRequest,
  context: CallContext,
): Promise<ListVersionsResponse> {
  const entries = await listEntries(pool, investorLogin);
  if (entries.length === 0) {
    // An unknown Investor is refused; a known one without a configuration has no versions.
    await accounts.findInvestor({ login: investorLogin }, context);
  }
  const made = entries.flatMap((entry) => {
    const version = beforeId === 0n || entry.id < beforeId ? madeBy(entries, entry) : undefined;
    return version === undefined ? [] : [{ version, madeAt: entry.madeAt }];
  });
  const size = pageSize(limit);
  const { items, hasMore } = pageOf(made.toReversed().slice(0, size + 1), size);
  const present = presentOf(entries, now());
  return {
    investorLogin,
    items: items.map(({ version, madeAt }) => versionMessage(version, stateOf(entries, version, present), madeAt)),
    hasMore,
  };
}
