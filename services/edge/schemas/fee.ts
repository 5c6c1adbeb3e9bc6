import { Type } from "typebox";
import type { FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import { rateText } from "../wire/rate.ts";
import { timestamp } from "../wire/timestamp.ts";
import { bool, string } from "./field.ts";
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
