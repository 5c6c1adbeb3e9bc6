import type { FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import type { FeeTerms } from "../domain/version.ts";
import type { Configuration } from "../store/configurations.ts";

export function configurationMessage(
  configuration: Configuration,
  { ratePpm, enabled, effectiveSince }: FeeTerms,
): FeeConfiguration {
  const { investorId, investorLogin, createdAt, updatedAt } = configuration;
  return { investorId, investorLogin, ratePpm, enabled, effectiveSince, createdAt, updatedAt };
}
