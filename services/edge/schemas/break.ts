import { Type, type Static } from "typebox";
import type { Break, Check } from "#proto/pamm/common/v1/reconciliation.ts";
import { moneyNumber } from "../wire/money.ts";
import { nullableTimestamp, timestamp } from "../wire/timestamp.ts";
import { bool, choice, integer, nullableString, string } from "./field.ts";
import { moneyReply, nullableTimeReply, timeReply } from "./reply-fields.ts";

/** Every service that checks its books, in the order in which their breaks are listed. */
export const CHECKED = ["platform", "subscription", "fee", "funding"] as const;
export type Checked = (typeof CHECKED)[number];

const service = choice(CHECKED, { description: "Whose books it is about.", example: "platform" });
const check = string({ description: "Name of the check, as in docs/reconciliation.md.", example: "R3" });

export const BreakItem = Type.Object({
  id: string({ description: "Stays the same for as long as it is seen.", example: "platform-17" }),
  service,
  check,
  key: string({ description: "What it is about within the check.", example: "operation:4711" }),
  login: nullableString({
    description: "The account on which it shows; null when it is about none.",
    example: "3000001",
  }),
  master_login: nullableString({
    description:
      "The Master that stops for it; null when none does, or when it shows on an Investor: then the Master of its pool stops.",
    example: "3000001",
  }),
  at_risk: moneyReply("Money at risk in USD.", 12.34),
  operation_ids: Type.Array(string({ description: "Id of an operation.", example: "4711" })),
  deal_ids: Type.Array(integer({ description: "Ticket of a deal.", example: 1_234_567 })),
  message: string({
    description: "One sentence for people.",
    example: "deal 1234567: the platform has this deal no more",
  }),
  evidence: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    additionalProperties: true,
    description: "What was compared; amounts as text, in cents.",
    examples: [{ booked_minor: "5000", logged_minor: "0" }],
  }),
  opened_at: timeReply("When it was opened."),
  seen_at: timeReply("When it was seen last."),
});

export const CheckItem = Type.Object({
  service,
  check,
  title: string({
    description: "What it compares.",
    example: "the platform's balance of each account is the sum of its log",
  }),
  every_seconds: Type.Number({ description: "From one run to the next.", examples: [60] }),
  completed_at: nullableTimeReply("When it was complete the last time; null before that."),
  stale: bool({ description: "It has not been complete for three times that long: nobody knows.", example: false }),
  error: nullableString({ description: "Why the last run was not complete; null when it was.", example: null }),
  open_breaks: Type.Integer({ description: "How many of its breaks are open.", examples: [0] }),
});

const MS_PER_SECOND = 1_000;

export function breakItem(from: Checked, found: Break): Static<typeof BreakItem> {
  const { id, login, masterLogin } = found;
  return {
    id: `${from}-${id}`,
    service: from,
    check: found.check,
    key: found.key,
    login: login === "" ? null : login,
    master_login: masterLogin === "" ? null : masterLogin,
    at_risk: moneyNumber(found.atRisk),
    operation_ids: [...found.operationIds],
    deal_ids: [...found.dealIds],
    message: found.message,
    evidence: JSON.parse(found.evidence) as Record<string, unknown>,
    opened_at: timestamp(found.openedAt),
    seen_at: timestamp(found.seenAt),
  };
}

export function checkItem(from: Checked, { name, title, everyMs, completedAt, stale, error, openBreaks }: Check) {
  return {
    service: from,
    check: name,
    title,
    every_seconds: Number(everyMs) / MS_PER_SECOND,
    completed_at: nullableTimestamp(completedAt),
    stale,
    error: error === "" ? null : error,
    open_breaks: openBreaks,
  } satisfies Static<typeof CheckItem>;
}
