import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { ConfigureRequest, FeeConfiguration, UpdateConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { checkRate, type FeeChange, type FeeVersion, firstVersion, nextVersion } from "../domain/version.ts";
import { refuse } from "../refusals.ts";
import { findConfiguration } from "../store/configurations.ts";
import { addVersion } from "../processes/add-version.ts";

/** Sets the configuration of an assignment: rate and switch are valid from the start of the subscription. */
export async function configure(deps: Deps, request: ConfigureRequest): Promise<FeeConfiguration> {
  const { key, investorLogin, investorId, ratePpm, enabled, effectiveSince } = request;
  checkRate(ratePpm);
  assert(effectiveSince !== undefined, "a subscription has a start");
  const version = { ratePpm, rateFrom: effectiveSince, enabled, enabledFrom: effectiveSince, effectiveSince };
  return await addVersion(deps, { key, investorLogin, investorId }, () => version);
}

/** Adds a version to an Investor's configuration, or creates it. Executed fees and the high-water mark do not change. */
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
  const isNew = (await findConfiguration(deps.pool, investorLogin)) === undefined;
  if (isNew && !upsert) {
    throw refuse("fee_configuration_not_found", `Investor ${investorLogin} has no fee configuration.`);
  }
  if (isNew && ratePpm === undefined) {
    throw rateIsMissing();
  }
  const change: FeeChange = { ratePpm, enabled, effectiveSince };
  const command = { key: context.commandId, investorLogin, investorId: investor.id };
  return await addVersion(deps, command, (versions, at) => decide(versions, change, at));
}

/** Called under the lock of the configuration: the second of two concurrent first commands finds the version of the first. */
function decide(versions: readonly FeeVersion[], change: FeeChange, at: Date): FeeVersion {
  const newest = versions.at(-1);
  if (newest !== undefined) {
    return nextVersion(newest, change, at);
  }
  const { ratePpm } = change;
  if (ratePpm === undefined) {
    throw rateIsMissing();
  }
  return firstVersion({ ...change, ratePpm }, at);
}

function rateIsMissing(): Error {
  const message = "rate is required for a new fee configuration.";
  return refuse("validation_failed", "The request is invalid.", {
    errors: [{ field: "rate", code: "required", message }],
  });
}
