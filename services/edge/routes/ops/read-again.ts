import { Type } from "typebox";
import type { HistoryReading } from "#proto/pamm/platform/v1/platform.ts";
import { choice, integer, nullableString, string, text } from "../../schemas/field.ts";
import { loginReply, nullableTimeReply, timeReply } from "../../schemas/reply-fields.ts";
import { loginField } from "../../schemas/request-fields.ts";
import { route } from "../../route.ts";
import { nullableTimestamp, parseTimestamp, timestamp } from "../../wire/timestamp.ts";

const url = "/api/v1/ops/accounts/:login/read-again";
const params = Type.Object({ login: loginField("Login of a Master, Investor or payment account.") });

const Reading = Type.Object({
  login: loginReply("Login of the account."),
  state: choice(["reading", "done"], { description: "Whether the reading goes on.", example: "done" }),
  from: timeReply("Begin of the period."),
  until: timeReply("End of the period: when the reading was requested. Later deals are read in any case."),
  read_to: timeReply("The deals up to here were read."),
  requested_by: string({ description: "Owner of the API key.", example: "anna" }),
  finished_at: nullableTimeReply("End of the reading; null while it goes on."),
  reason: nullableString({ description: "Why the last try failed; null when it did not.", example: null }),
  filed_deals: integer({ description: "Deals that no log had and that are in the log now.", example: 1 }),
  amended_deals: integer({
    description: "Deals of the log that the trading platform has amended or deleted; each has a review.",
    example: 0,
  }),
  deal_ids: Type.Array(integer({ description: "Ticket.", example: 1234567 }), {
    description: "Tickets of both, ascending; at most 100.",
  }),
});

export const readHistoryAgain = route({
  method: "POST",
  url,
  scope: "ops",
  class: "money",
  tag: "Reconciliation",
  summary: "Read the history of an account again",
  description:
    "Reads the trading platform's history of an account again in the background, slice by slice: deals that no log has are booked, amended and deleted ones get a review. For an account that does not reconcile. While a reading goes on, it is returned and no other begins.",
  params,
  body: Type.Object({
    from: Type.Optional(
      text("datetime", {
        description: "Begin of the period. Without an offset it is UTC. Default: since the account is managed.",
        example: "2026-01-02T03:04:05Z",
        shown: { format: "date-time" },
      }),
    ),
  }),
  reply: Reading,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the reading in GET /api/v1/ops/accounts/{login}/read-again before sending a new one.",
  refusals: ["login_not_managed"],

  async handle({ platform }, { params: { login }, body: { from } }, context) {
    const since = from === undefined ? undefined : parseTimestamp(from);
    return readingReply(await platform.readHistoryAgain({ login, from: since, actor: context.client.owner }, context));
  },
});

export const getHistoryReading = route({
  method: "GET",
  url,
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "Get the last such reading",
  description: "How far the last reading of an account's history has come that operators requested, and what it found.",
  params,
  reply: Reading,
  refusals: ["login_not_managed", "history_reading_not_found"],

  async handle({ platform }, { params: { login } }, context) {
    return readingReply(await platform.getHistoryReading({ login }, context));
  },
});

function readingReply(reading: HistoryReading) {
  const { login, from, until, readTo, requestedBy, finishedAt, reason, filedDeals, amendedDeals, dealIds } = reading;
  return {
    login,
    state: finishedAt === undefined ? ("reading" as const) : ("done" as const),
    from: timestamp(from),
    until: timestamp(until),
    read_to: timestamp(readTo),
    requested_by: requestedBy,
    finished_at: nullableTimestamp(finishedAt),
    reason: reason === "" ? null : reason,
    filed_deals: filedDeals,
    amended_deals: amendedDeals,
    deal_ids: dealIds,
  };
}
