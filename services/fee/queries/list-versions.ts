import type { CallContext } from "#kernel/contract/contract.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import type { ListVersionsRequest, ListVersionsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { madeBy, presentOf, stateOf } from "../domain/timeline.ts";
import { versionMessage } from "../messages/version.ts";
import { listEntries } from "../store/configurations.ts";
import { listVersionsBelow } from "../store/listed-versions.ts";

/** The versions of an Investor, the newest first. A page reads its own versions and what is in force and scheduled, so each costs the same. */
export async function listVersions(
  { pool, accounts, now }: Pick<Deps, "pool" | "accounts" | "now">,
  { investorLogin, beforeId, limit }: ListVersionsRequest,
  context: CallContext,
): Promise<ListVersionsResponse> {
  const size = pageSize(limit);
  const { versions, entries } = await inSnapshot(pool, async (db) => {
    const below = await listVersionsBelow(db, { investorLogin, beforeId, limit: size + 1 });
    return { versions: below, entries: await listEntries(db, { investorLogin, since: now() }) };
  });
  if (entries.length === 0) {
    // An unknown Investor is refused; a known one without a configuration has no versions.
    await accounts.findInvestor({ login: investorLogin }, context);
  }
  const { items, hasMore } = pageOf(versions, size);
  const present = presentOf(entries, now());
  return {
    investorLogin,
    items: items.map((item) => versionMessage(madeBy(item), stateOf(entries, item, present), item.madeAt)),
    hasMore,
  };
}
