import assert from "node:assert/strict";
import type { FeeConfiguration, FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import { rateText } from "../../wire/rate.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { bool, model, setOf, string } from "../../fields/field.ts";
import { idReply, investorLoginReply, timeReply } from "./reply-fields.ts";

export const FeeConfigurationReply = model("FeeConfiguration", "A version of an Investor's performance fee.", {
  investor_id: idReply("Internal id of the Investor.", 8),
  investor_login: investorLoginReply(),
  rate: string({
    description: "Performance fee, 0 to 1, six decimals; 0.300000 means 30 %.",
    example: "0.300000",
    shown: { pattern: "^[01]\\.[0-9]{6}$" },
  }),
  enabled: bool({ description: "Whether fees are collected.", example: true }),
  effective_since: timeReply("Start of validity of this version."),
  created_at: timeReply("When the configuration was created."),
  updated_at: timeReply("When the configuration was last changed."),
});

export const feeVersionState = setOf("FeeVersionState", "State of a fee version, in the sequence of its life.", {
  scheduled: "It begins later.",
  in_force: "It applies now.",
  past: "A later version has followed it.",
  replaced: "A newer version with the same or an earlier start has taken its place.",
  cancelled: "It never began.",
});

export const FeeVersionReply = model("FeeVersion", "A version of the fee configuration, with its state.", {
  id: idReply("Id of the version; the cursor of the listing.", 17),
  rate: string({
    description: "Performance fee, 0 to 1, six decimals.",
    example: "0.250000",
    shown: { pattern: "^[01]\\.[0-9]{6}$" },
  }),
  enabled: bool({ description: "Whether fees are collected.", example: true }),
  effective_since: timeReply("Start of validity."),
  created_at: timeReply("When the version was made."),
  state: feeVersionState.of("State of the version.", "scheduled"),
});

export function feeVersion(version: FeeVersion) {
  return {
    id: version.id,
    rate: rateText(version.ratePpm),
    enabled: version.enabled,
    effective_since: timestamp(version.effectiveSince),
    created_at: timestamp(version.createdAt),
    state: stateOf(version),
  };
}

function stateOf({ id, state }: FeeVersion): (typeof feeVersionState.values)[number] {
  const known = feeVersionState.values.find((each) => each === state);
  assert(known !== undefined, `fee version ${id} has a known state`);
  return known;
}

export function feeConfiguration(configuration: FeeConfiguration) {
  return {
    investor_id: configuration.investorId,
    investor_login: configuration.investorLogin,
    rate: rateText(configuration.ratePpm),
    enabled: configuration.enabled,
    effective_since: timestamp(configuration.effectiveSince),
    created_at: timestamp(configuration.createdAt),
    updated_at: timestamp(configuration.updatedAt),
  };
}
