import type { CallContext } from "#kernel/contract/contract.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { type GatheredRead, gatherReads } from "#kernel/gather-reads.ts";
import type { FeeConfiguration, GetConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { presentOf, shownAt } from "../domain/timeline.ts";
import { refuse } from "../refusals.ts";
import { listTerms, type Terms } from "../store/configurations.ts";

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
