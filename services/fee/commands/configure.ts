import assert from "node:assert/strict";
import type { ConfigureRequest, FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { checkRate } from "../domain/rate.ts";
import { addVersion } from "../processes/add-version.ts";

/** Sets the configuration of an assignment: rate and switch are valid from the start of the subscription. */
export async function configure(deps: Deps, request: ConfigureRequest): Promise<FeeConfiguration> {
  const { key, investorLogin, investorId, ratePpm, enabled, effectiveSince } = request;
  checkRate(ratePpm);
  assert(effectiveSince !== undefined, "a subscription has a start");
  const version = { ratePpm, rateFrom: effectiveSince, enabled, enabledFrom: effectiveSince, effectiveSince };
  return await addVersion(deps, { key, investorLogin, investorId }, () => version);
}
