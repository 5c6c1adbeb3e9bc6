import type { FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import { rateText } from "../wire/rate.ts";
import { timestamp } from "../wire/timestamp.ts";
import { bool, model, string } from "./field.ts";
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
