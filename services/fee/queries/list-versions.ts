import type { CallContext } from "#kernel/contract/contract.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import type { ListVersionsRequest, ListVersionsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { presentOf, stateOf } from "../domain/timeline.ts";
import { versionMessage } from "../messages/version.ts";
import { listTerms } from "../store/configurations.ts";
import { listVersionsBelow } from "../store/listed-versions.ts";

/** The versions of an Investor, the newest first. A page reads its own versions and what is in force and scheduled, so each costs the same. */
export async function listVersions(
  { pool, accounts, now }: Pick<Deps, "pool" | "accounts" | "now">,
  { investorLogin, beforeId, limit }: ListVersionsRequest,
  context: CallContext,
): Promise<ListVersionsResponse> {
  const size = pageSize(limit);
  const { below, terms } = await inSnapshot(pool, async (db) => ({
    below: await listVersionsBelow(db, { investorLogin, beforeId, limit: size + 1 }),
    terms: (await listTerms(db, [{ investorLogin, since: now() }])).get(investorLogin),
  }));
  if (below.length === 0) {
    // An unknown Investor is refused; a known one without a configuration has no versions.
    await accounts.findInvestor({ login: investorLogin }, context);
  }
  const { items, hasMore } = pageOf(below, size);
  const present = presentOf(terms, now());
  return {
    investorLogin,
    items: items.map((item) => versionMessage(item, stateOf(terms?.versions ?? [], item, present))),
    hasMore,
  };
}
