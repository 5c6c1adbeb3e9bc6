import assert from "node:assert/strict";
import type { ConfigureRequest, FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { checkRate } from "../domain/rate.ts";
import { addVersion } from "../processes/add-version.ts";

/** The configuration that an assignment carries: rate and switch hold from the subscription's beginning. */
export async function configure(deps: Deps, request: ConfigureRequest): Promise<FeeConfiguration> {
  const { key, investorLogin, investorId, ratePpm, enabled, effectiveSince } = request;
  checkRate(ratePpm);
  assert(effectiveSince !== undefined, "a subscription has begun");
  const version = { ratePpm, rateFrom: effectiveSince, enabled, enabledFrom: effectiveSince, effectiveSince };
  return await addVersion(deps, { key, investorLogin, investorId }, () => version);
}
