import assert from "node:assert/strict";
import { Type } from "typebox";
import type { FeeConfiguration, FeeVersion } from "#proto/pamm/fee/v1/fee.ts";
import { rateText } from "../wire/rate.ts";
import { timestamp } from "../wire/timestamp.ts";
import { bool, choice, string } from "./field.ts";
import { idReply, loginReply, timeReply } from "./reply-fields.ts";

export const FeeConfigurationReply = Type.Object(
  {
    investor_id: idReply("Internal id of the Investor."),
    investor_login: loginReply("Login of the Investor."),
    rate: string({ description: "Performance fee, 0 to 1, six decimals.", example: "0.300000" }),
    enabled: bool({ description: "Whether fees are collected.", example: true }),
    effective_since: timeReply("Start of validity of this version."),
    created_at: timeReply("When the configuration was created."),
    updated_at: timeReply("When the configuration was last changed."),
  },
  { description: "The performance fee configuration of an Investor." },
);

/** In the sequence of a version's life. */
const STATES = ["scheduled", "in_force", "past", "replaced", "cancelled"] as const;

export const FeeVersionReply = Type.Object(
  {
    id: idReply("Id of the version; the cursor of the listing."),
    rate: string({ description: "Performance fee, 0 to 1, six decimals.", example: "0.300000" }),
    enabled: bool({ description: "Whether fees are collected.", example: true }),
    effective_since: timeReply("Start of validity."),
    created_at: timeReply("When the version was made."),
    state: choice(STATES, {
      description:
        "`scheduled`: it begins later. `in_force`. `past`: a later version has followed it. `replaced`: a newer version with the same or an earlier start has taken its place. `cancelled`: it never began.",
      example: "scheduled",
    }),
  },
  { description: "A version of the performance fee configuration of an Investor." },
);

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

function stateOf({ id, state }: FeeVersion): (typeof STATES)[number] {
  const known = STATES.find((each) => each === state);
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
