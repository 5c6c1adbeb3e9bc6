import { Type } from "typebox";
import type { HistoryReading } from "#proto/pamm/platform/v1/platform.ts";
import { choice, integer, model, nullableString, string, text } from "../../schemas/field.ts";
import { nullableTimeReply, ticketReply, timeReply } from "../../schemas/reply-fields.ts";
import { INSTANT, loginField } from "../../schemas/request-fields.ts";
import { route } from "../../route.ts";
import { nullableTimestamp, parseTimestamp, timestamp } from "../../wire/timestamp.ts";

const url = "/api/v1/ops/accounts/:login/read-again";
const params = Type.Object({ login: loginField("Login of a Master, Investor or payment account.", "master") });

const Reading = model("HistoryReading", "A reading of the history of an account.", {
  login: string({ description: "Login of the account.", example: "3000001" }),
  state: choice(
    { reading: "It goes on.", done: "It has ended." },
    { description: "Whether the reading goes on.", example: "done" },
  ),
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
  deal_ids: Type.Array(ticketReply("Ticket of a deal."), {
    description: "Tickets of both, ascending; at most 100.",
  }),
});

export const readHistoryAgain = route({
  operationId: "startHistoryReading",
  method: "POST",
  url,
  scope: "ops",
  class: "money",
  tag: "Reconciliation",
  summary: "Read the history of an account again",
  description:
    "Reads the trading platform's history of an account again in the background, slice by slice: deals that no log has are booked, amended and deleted ones get a review. For an account that does not reconcile. While a reading goes on, it is returned and no other begins.",
  returns: "The reading that goes on.",
  params,
  body: Type.Object({
    from: Type.Optional(
      text("datetime", {
        description: "Begin of the period. Without an offset it is UTC. Default: since the account is managed.",
        example: "2026-01-02T03:04:05.678000",
        shown: INSTANT,
      }),
    ),
  }),
  reply: Reading,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the reading in GET /api/v1/ops/accounts/{login}/read-again before sending a new one.",
  refusals: ["login_not_managed"],
  examples: [
    {
      name: "begun",
      summary: "A reading has begun",
      request: { params: { login: "3000001" }, body: { from: "2026-01-02T03:04:05Z" } },
      answer: {
        login: "3000001",
        state: "reading",
        from: "2026-01-02T03:04:05.678000",
        until: "2026-02-03T04:05:06.789000",
        read_to: "2026-01-02T03:04:05.678000",
        requested_by: "KeyOfAnna001",
        finished_at: null,
        reason: null,
        filed_deals: 0,
        amended_deals: 0,
        deal_ids: [],
      },
    },
  ],

  async handle({ platform }, { params: { login }, body: { from } }, context) {
    const since = from === undefined ? undefined : parseTimestamp(from);
    return readingReply(await platform.readHistoryAgain({ login, from: since, actor: context.client.owner }, context));
  },
});

export const getHistoryReading = route({
  operationId: "getHistoryReading",
  method: "GET",
  url,
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "Get the last such reading",
  description: "How far the last reading of an account's history has come that operators requested, and what it found.",
  returns: "The last reading.",
  params,
  reply: Reading,
  refusals: ["login_not_managed", "history_reading_not_found"],
  examples: [
    {
      name: "done",
      summary: "A reading has ended",
      request: { params: { login: "3000001" } },
      answer: {
        login: "3000001",
        state: "done",
        from: "2026-01-02T03:04:05.678000",
        until: "2026-02-03T04:05:06.789000",
        read_to: "2026-02-03T04:05:06.789000",
        requested_by: "KeyOfAnna001",
        finished_at: "2026-02-03T04:05:06.789000",
        reason: null,
        filed_deals: 1,
        amended_deals: 1,
        deal_ids: [1234567, 1234568],
      },
    },
  ],

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
