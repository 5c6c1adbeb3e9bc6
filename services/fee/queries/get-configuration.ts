import type { CallContext } from "#kernel/contract/contract.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import type {
  FeeConfiguration,
  GetConfigurationRequest,
  ListVersionsRequest,
  ListVersionsResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { presentOf, shownAt, stateOf } from "../domain/timeline.ts";
import { refuse } from "../refusals.ts";
import { pageOf, pageSize } from "#kernel/values/page.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { listTerms, listVersionsBelow, type Terms } from "../store/configurations.ts";
import { versionMessage } from "../messages/calculation.ts";

export type ConfigurationReads = GatheredRead<string, Terms>;

/** Configurations that are asked for at the same time are read by one statement. */
export function configurationReads({
  pool,
  now,
}: Pick<Deps, "now"> & { readonly pool: Queryable }): ConfigurationReads {
  return gatherReads(async (logins) => {
    const since = now();
    return await listTerms(
      pool,
      logins.map((investorLogin) => ({ investorLogin, since })),
    );
  });
}

/** The version in force, or the scheduled one. */
export async function getConfiguration(
  { accounts, now }: Pick<Deps, "accounts" | "now">,
  read: ConfigurationReads,
  { investorLogin }: GetConfigurationRequest,
  context: CallContext,
): Promise<FeeConfiguration> {
  const terms = await read(investorLogin);
  const shown = terms && shownAt(terms.versions, presentOf(terms, now()));
  if (terms === undefined || shown === undefined) {
    // An unknown Investor is refused with a code of its own.
    await accounts.findInvestor({ login: investorLogin }, context);
    throw refuse("fee_configuration_not_found", `Investor ${investorLogin} has no fee configuration.`);
  }
  const { versions: _timeline, ...configuration } = terms;
  const { ratePpm, enabled, effectiveSince } = shown;
  return { ...configuration, ratePpm, enabled, effectiveSince, retroactiveSince: undefined };
}

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
