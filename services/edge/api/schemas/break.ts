import { SECOND_MS } from "#kernel/duration.ts";
import { Type, type Static } from "typebox";
import type { Break, Check } from "#proto/pamm/common/v1/reconciliation.ts";
import { moneyNumber } from "../../wire/money.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { bool, model, nullableString, setOf, string } from "../../fields/field.ts";
import { moneyReply, nullableTimeReply, ticketReply, timeReply } from "./reply-fields.ts";

/** The services that check their books, in the order of the list. */
export const checkedService = setOf("CheckedService", "A service with books that are checked.", {
  platform: "Transfers, deals and the logs of accounts.",
  subscription: "Pools, holdings, mirrors and exits.",
  fee: "Fee runs, payments and credits.",
  funding: "Deposits and withdrawals.",
});
export const CHECKED = checkedService.values;
export type Checked = (typeof CHECKED)[number];

/** Of an id that has passed its check. */
export function readBreakId(id: string): { readonly service: Checked; readonly number: bigint } {
  const service = CHECKED.find((each) => id.startsWith(`${each}-`)) ?? "platform";
  return { service, number: BigInt(id.slice(service.length + 1)) };
}

const service = checkedService.of("Service whose books the check covers.", "platform");
const check = string({ description: "Name of the check.", example: "deal_matching" });

export const BreakItem = model("Break", "A difference that a check has found and that is still there.", {
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
  at_risk: moneyReply("Money at risk.", 50),
  operation_ids: Type.Array(string({ description: "Number of a leg, or id of an operation.", example: "4711" }), {
    description: "Legs and operations concerned.",
  }),
  deal_ids: Type.Array(ticketReply("Ticket of a deal."), { description: "Deals concerned." }),
  message: string({
    description: "One sentence that says what differs.",
    example: "Leg 4711 is applied, but its deal 1234567 is not in a log.",
  }),
  evidence: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    additionalProperties: true,
    description: "Values that were compared; names that end in _minor are whole cents as text.",
    examples: [{ booked_minor: "5000", logged_minor: "0" }],
  }),
  opened_at: timeReply("When the break was found first."),
  seen_at: timeReply("When the break was found last."),
});

export const CheckItem = model("Check", "A rule that is checked all the time, and when it was last.", {
  service,
  check,
  title: string({
    description: "What the check compares.",
    example: "each applied leg is one deal of the log",
  }),
  every_seconds: Type.Integer({ description: "Seconds between two runs, rounded up.", examples: [60] }),
  completed_at: nullableTimeReply("When the check was last completed; null before the first time."),
  stale: bool({
    description: "The check was not completed for three intervals, so its result is out of date.",
    example: false,
  }),
  error: nullableString({ description: "Why the last run was incomplete; null when it was complete.", example: null }),
  open_breaks: Type.Integer({ description: "Number of open breaks.", examples: [1] }),
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
    every_seconds: Math.ceil(Number(everyMs) / SECOND_MS),
    completed_at: nullableTimestamp(completedAt),
    stale,
    error: error === "" ? null : error,
    open_breaks: openBreaks,
  } satisfies Static<typeof CheckItem>;
}
