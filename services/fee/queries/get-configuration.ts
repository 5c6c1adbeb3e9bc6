import type { CallContext } from "#kernel/contract/contract.ts";
import type { FeeConfiguration, GetConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { termsAt } from "../domain/version.ts";
import { refuse } from "../refusals.ts";
import { findConfiguration, listVersions } from "../store/configurations.ts";

/** The configuration in force, or the first scheduled one. */
export async function getConfiguration(
  { pool, accounts, now }: Deps,
  { investorLogin }: GetConfigurationRequest,
  context: CallContext,
): Promise<FeeConfiguration> {
  const configuration = await findConfiguration(pool, investorLogin);
  if (configuration === undefined) {
    // An unknown Investor is refused with a code of its own.
    await accounts.findInvestor({ login: investorLogin }, context);
    throw refuse("fee_configuration_not_found", `Investor ${investorLogin} has no fee configuration.`);
  }
  return { ...configuration, ...termsAt(await listVersions(pool, investorLogin), now()) };
}
