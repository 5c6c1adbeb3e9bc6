import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { ConfigureRequest, FeeConfiguration, UpdateConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { entriesOfChange, entryOfAssignment, type FeeChange } from "../domain/change-timeline.ts";
import { earlier, shownAt } from "../domain/timeline.ts";
import { checkRate } from "../domain/version.ts";
import { type RecordedChange, recordChange } from "../processes/record-change.ts";
import { refuse } from "../refusals.ts";

/** Begins a new timeline with the terms of an assignment: rate and switch are valid from the start of the subscription. */
export async function configure(deps: Deps, request: ConfigureRequest): Promise<FeeConfiguration> {
  const { key, investorLogin, investorId, ratePpm, enabled, effectiveSince } = request;
  checkRate(ratePpm);
  assert(effectiveSince !== undefined, "a subscription has a start");
  const command = { key, investorLogin, investorId, notBefore: effectiveSince, asksSince: effectiveSince };
  return answer(await recordChange(deps, command, () => [entryOfAssignment({ ratePpm, enabled, effectiveSince })]));
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
  const now = deps.now();
  const asksSince = earlier(effectiveSince ?? now, now);
  const command = { key: context.commandId, investorLogin, investorId: investor.id, asksSince };
  const recorded = await recordChange(deps, command, (entries, at) => {
    if (!upsert && shownAt(entries, at) === undefined) {
      throw refuse("fee_configuration_not_found", `Investor ${investorLogin} has no fee configuration.`);
    }
    return entriesOfChange(entries, change, at);
  });
  const { rateFrom, madeAt } = recorded.entry;
  const retroactiveSince = rateFrom < madeAt ? rateFrom : undefined;
  return { ...answer(recorded), retroactiveSince };
}

/** The version that the command has made. */
function answer({ configuration, entry }: RecordedChange): FeeConfiguration {
  const { ratePpm, enabled, effectiveSince, madeAt } = entry;
  return { ...configuration, updatedAt: madeAt, ratePpm, enabled, effectiveSince, retroactiveSince: undefined };
}
