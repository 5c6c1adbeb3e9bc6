import { Type } from "typebox";
import { FeeConfigurationReply } from "../schemas/fee.ts";
import { bool, read, text } from "../../fields/field.ts";
import { or } from "../../fields/message.ts";
import { enabled, INSTANT, investorLogin, rate } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";
import { parseTimestamp, timestamp } from "../../wire/timestamp.ts";

const RETROACTIVE_SINCE = "X-Retroactive-Since" as const;

export const getFee = route({
  operationId: "getFeeConfiguration",
  method: "GET",
  url: "/api/v1/investor/:investor_login/performance-fee",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "Get a fee configuration",
  description: "Returns the version in force, or the first scheduled one.",
  returns: "The version in force, or the first scheduled one.",
  params: Type.Object({ investor_login: investorLogin }),
  reply: FeeConfigurationReply,
  refusals: ["investor_not_found", "fee_configuration_not_found"],
  call: ({ fees }, request, context) => fees.getConfiguration(request, context),
});

export const updateFee = route({
  operationId: "updateFeeConfiguration",
  method: "POST",
  url: "/api/v1/investor/perf-fee/update",
  scope: "fees:write",
  class: "money",
  tag: "Performance fees",
  summary: "Update a fee configuration",
  description:
    "Makes a version of the fee configuration and returns it. Without `effective_since`, or with the value of the version in force, it is in force from now on. A later instant schedules it; an earlier one re-rates results since then that are not charged yet, and the response has `X-Retroactive-Since`. What is omitted is as in the version in force at that start; of a new configuration `rate` is required, and `enabled` is true when omitted. An assign requires both. Other scheduled versions, the high-water mark and executed fees do not change.",
  returns: "The version that the request has made.",
  body: Type.Object({
    investor_login: investorLogin,
    rate: Type.Optional(rate),
    enabled: Type.Optional(enabled),
    effective_since: Type.Optional(
      read(
        text("datetime", {
          description:
            "Start of validity, to the millisecond; now when omitted. ISO 8601; without an offset it is UTC. `enabled` is never valid before now.",
          example: "2026-01-02T03:04:05.678000",
          shown: INSTANT,
        }),
        parseTimestamp,
      ),
    ),
    upsert: or(
      bool({ description: "Create the configuration when the Investor has none.", example: true, default: true }),
      true,
    ),
  }),
  reply: FeeConfigurationReply,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the new values in GET /api/v1/investor/{investor_login}/performance-fee before sending a new one.",
  refusals: ["investor_not_found", "fee_configuration_not_found", "too_many_scheduled_versions"],
  headers: [RETROACTIVE_SINCE],

  async call({ fees }, request, context) {
    const configuration = await fees.updateConfiguration(request, context);
    const { retroactiveSince } = configuration;
    if (retroactiveSince !== undefined) context.setHeader(RETROACTIVE_SINCE, timestamp(retroactiveSince));
    return configuration;
  },
});
