import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { ConfigureRequest, FeeConfiguration, UpdateConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { type FeeChange, versionOfAssignment, versionOfChange } from "../domain/change-timeline.ts";
import { shownAt } from "../domain/timeline.ts";
import { checkRate } from "../domain/version.ts";
import { recordVersion } from "../processes/record-version.ts";
import { refuse } from "../refusals.ts";

/** Begins a new timeline with the terms of an assignment: rate and switch are valid from the start of the subscription. */
export async function configure(deps: Deps, request: ConfigureRequest): Promise<FeeConfiguration> {
  const { key, investorLogin, investorId, ratePpm, enabled, effectiveSince } = request;
  checkRate(ratePpm);
  assert(effectiveSince !== undefined, "a subscription has a start");
  const command = { key, investorLogin, investorId, since: effectiveSince, notBefore: effectiveSince };
  const { configuration } = await recordVersion(deps, command, (versions) =>
    versionOfAssignment(versions, { ratePpm, enabled, effectiveSince }),
  );
  return configuration;
}

/** Makes a version of an Investor's configuration. Executed fees and the high-water mark do not change. */
export async function updateConfiguration(
  deps: Deps,
  request: UpdateConfigurationRequest,
  context: CallContext,
): Promise<FeeConfiguration> {
  const { investorLogin, ratePpm, enabled, effectiveSince, upsert } = request;
  if (ratePpm !== undefined) {
    checkRate(ratePpm);
  }
  const investor = await deps.accounts.findInvestor({ login: investorLogin }, childContext(context));
  const change: FeeChange = { ratePpm, enabled, effectiveSince };
  const command = { key: context.commandId, investorLogin, investorId: investor.id, since: effectiveSince };
  const { configuration, madeAt } = await recordVersion(deps, command, (versions, at) => {
    if (!upsert && shownAt(versions, at) === undefined) {
      throw refuse("fee_configuration_not_found", `Investor ${investorLogin} has no fee configuration.`);
    }
    return versionOfChange(versions, change, at);
  });
  const { effectiveSince: start = madeAt } = configuration;
  return { ...configuration, retroactiveSince: start < madeAt ? start : undefined };
}
