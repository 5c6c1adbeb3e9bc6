import { bool, model, read, setOf, string, text } from "../../fields/field.ts";
import { at, optional, or, shown } from "../../fields/message.ts";
import { cursorBefore, idPage, limit500 } from "../../fields/page.ts";
import { idReply, investorLoginReply, timeReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { enabled, feeVersionId, INSTANT, investorLogin, rate } from "../schemas/request-fields.ts";
import { rateText } from "../../wire/number.ts";
import { parseTimestamp, timestamp } from "../../wire/timestamp.ts";

const rateReply = (description: string, example: string) =>
  at("ratePpm", shown(string({ description, example, shown: { pattern: "^[01]\\.[0-9]{6}$" } }), rateText));
const enabledReply = bool({ description: "Whether fees are collected.", example: true });

const FeeConfigurationReply = model("FeeConfiguration", "A version of an Investor's performance fee.", {
  investor_id: idReply("Internal id of the Investor.", 8),
  investor_login: investorLoginReply(),
  rate: rateReply("Performance fee, 0 to 1, six decimals; 0.300000 means 30 %.", "0.300000"),
  enabled: enabledReply,
  effective_since: timeReply("Start of validity of this version."),
  created_at: timeReply("When the configuration was created."),
  updated_at: timeReply("When the configuration was last changed."),
});

const feeVersionState = setOf("FeeVersionState", "State of a fee version, in the sequence of its life.", {
  scheduled: "It begins later.",
  in_force: "It applies now.",
  past: "A later version has followed it.",
  replaced: "A newer version with the same or an earlier start has taken its place.",
  cancelled: "It never began.",
});

const FeeVersionReply = model("FeeVersion", "A version of the fee configuration, with its state.", {
  id: idReply("Id of the version; the cursor of the listing.", 17),
  rate: rateReply("Performance fee, 0 to 1, six decimals.", "0.250000"),
  enabled: enabledReply,
  effective_since: timeReply("Start of validity."),
  created_at: timeReply("When the version was made."),
  state: feeVersionState.known("State of the version.", "scheduled"),
});

const RETROACTIVE_SINCE = "X-Retroactive-Since" as const;

export const getFeeConfiguration = route("GET /api/v1/investor/:investor_login/performance-fee", {
  scope: "fees:read",
  summary: "Get a fee configuration",
  description: "Returns the version in force, or the first scheduled one.",
  returns: "The version in force, or the first scheduled one.",
  params: { investor_login: investorLogin },
  reply: FeeConfigurationReply,
  refusals: ["investor_not_found", "fee_configuration_not_found"],
  call: ({ fees }, request, context) => fees.getConfiguration(request, context),
});

export const updateFeeConfiguration = route("POST /api/v1/investor/perf-fee/update", {
  scope: "fees:write",
  summary: "Update a fee configuration",
  description:
    "Makes a version of the fee configuration and returns it. Without `effective_since`, or with the value of the version in force, it is in force from now on. A later instant schedules it; an earlier one re-rates results since then that are not charged yet, and the response has `X-Retroactive-Since`. What is omitted is as in the version in force at that start; of a new configuration `rate` is required, and `enabled` is true when omitted. An assign requires both. Other scheduled versions, the high-water mark and executed fees do not change.",
  returns: "The version that the request has made.",
  body: {
    investor_login: investorLogin,
    rate: optional(rate),
    enabled: optional(enabled),
    effective_since: optional(
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
  },
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

export const listFeeVersions = route("GET /api/v1/investor/:investor_login/performance-fee/versions", {
  scope: "fees:read",
  summary: "List the versions of a fee configuration",
  description: "All versions, the newest first: scheduled, in force, past, replaced and cancelled ones.",
  returns: "A page of versions.",
  params: { investor_login: investorLogin },
  query: {
    limit: limit500(100),
    cursor: cursorBefore("Only versions with a lower id. Use next_cursor."),
  },
  reply: model("FeeVersionPage", "A page of versions. Descending by id.", {
    investor_login: investorLoginReply(),
    ...idPage(FeeVersionReply),
  }),
  refusals: ["investor_not_found"],
  call: ({ fees }, request, context) => fees.listVersions(request, context),
});

export const cancelFeeVersion = route("DELETE /api/v1/investor/:investor_login/performance-fee/versions/:version_id", {
  scope: "fees:write",
  summary: "Cancel a scheduled fee version",
  description:
    "Only a version that has not begun; the version before it then stays in force. Returns the cancelled version.",
  returns: "The cancelled version.",
  params: { investor_login: investorLogin, version_id: feeVersionId },
  reply: FeeVersionReply,
  lookUp:
    "Repeat it with the same Idempotency-Key. GET /api/v1/investor/{investor_login}/performance-fee/versions shows the state of the version.",
  refusals: ["investor_not_found", "fee_version_not_found", "fee_version_not_scheduled"],
  call: ({ fees }, request, context) => fees.cancelVersion(request, context),
});
