import { SECOND_MS } from "#kernel/duration.ts";
import { Type, type Static } from "typebox";
import type { Break, Check } from "#proto/pamm/common/v1/reconciliation.ts";
import { moneyNumber } from "../wire/money.ts";
import { nullableTimestamp, timestamp } from "../wire/timestamp.ts";
import { bool, choice, integer, nullableString, string } from "./field.ts";
import { moneyReply, nullableTimeReply, timeReply } from "./reply-fields.ts";

/** The services that check their books, in the order of the list. */
export const CHECKED = ["platform", "subscription", "fee", "funding"] as const;
export type Checked = (typeof CHECKED)[number];

const service = choice(CHECKED, { description: "Service whose books the check covers.", example: "platform" });
const check = string({ description: "Name of the check.", example: "deal_matching" });

export const BreakItem = Type.Object({
  id: string({ description: "Id of the break, stable while it is open.", example: "platform-17" }),
  service,
  check,
  key: string({ description: "Subject of the break within the check.", example: "operation:4711" }),
  login: nullableString({
    description: "Account concerned; null when there is none.",
    example: "3000001",
  }),
  master_login: nullableString({
    description:
      "Master that is stopped because of it; null when none is, or when the break is on an Investor, whose Master is stopped.",
    example: "3000001",
  }),
  at_risk: moneyReply("Money at risk in USD.", 12.34),
  operation_ids: Type.Array(string({ description: "Id of an operation.", example: "4711" })),
  deal_ids: Type.Array(integer({ description: "Ticket of a deal.", example: 1_234_567 })),
  message: string({
    description: "One sentence that says what differs.",
    example: "Deal 1234567: deleted on the trading platform.",
  }),
  evidence: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    additionalProperties: true,
    description: "Values that were compared; amounts are text in cents.",
    examples: [{ booked_minor: "5000", logged_minor: "0" }],
  }),
  opened_at: timeReply("When the break was found first."),
  seen_at: timeReply("When the break was found last."),
});

export const CheckItem = Type.Object({
  service,
  check,
  title: string({
    description: "What the check compares.",
    example: "The trading platform's balance of each account is the sum of its log.",
  }),
  every_seconds: Type.Number({ description: "Seconds between two runs.", examples: [60] }),
  completed_at: nullableTimeReply("When the check was last completed; null before the first time."),
  stale: bool({
    description: "The check was not completed for three intervals, so its result is out of date.",
    example: false,
  }),
  error: nullableString({ description: "Why the last run was incomplete; null when it was complete.", example: null }),
  open_breaks: Type.Integer({ description: "Number of open breaks.", examples: [0] }),
});

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
    every_seconds: Number(everyMs) / SECOND_MS,
    completed_at: nullableTimestamp(completedAt),
    stale,
    error: error === "" ? null : error,
    open_breaks: openBreaks,
  } satisfies Static<typeof CheckItem>;
}
