import { SECOND_MS } from "#kernel/duration.ts";
import { bool, list, model, nullableString, read, setOf, smallInteger, string, text } from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import { caseId, evidenceReply, readCaseId } from "./case.ts";
import { moneyReply, nullableTimeReply, ticketReply, timeReply } from "../../fields/reply-fields.ts";

/** The services that check their books, in the order of the list. */
export const checkedService = setOf("CheckedService", "A service with books that are checked.", {
  platform: "Transfers, deals and the logs of accounts.",
  subscription: "Pools, holdings, mirrors and exits.",
  fee: "Fee runs, payments and credits.",
  funding: "Deposits and withdrawals.",
});
export const CHECKED = checkedService.values;

/** Of a path. */
export const breakId = read(
  text("break_id", {
    description: "Id of the break.",
    example: "fee-17",
    shown: { pattern: "^(platform|subscription|fee|funding)-[1-9][0-9]{0,17}$" },
  }),
  readCaseId<(typeof CHECKED)[number]>,
);

const service = checkedService.of("Service whose books the check covers.", "platform");
const check = string({ description: "Name of the check.", example: "deal_matching" });

export const BreakItem = model("Break", "A difference that a check has found and that is still there.", {
  id: caseId("Id of the break, stable while it is open.", "platform-17"),
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
  operation_ids: list(string({ description: "Number of a leg, or id of an operation.", example: "4711" }), {
    description: "Legs and operations concerned.",
  }),
  deal_ids: list(ticketReply("Ticket of a deal."), { description: "Deals concerned." }),
  message: string({
    description: "One sentence that says what differs.",
    example: "Leg 4711 is applied, but its deal 1234567 is not in a log.",
  }),
  evidence: evidenceReply("Values that were compared; names that end in _minor are whole cents as text.", {
    booked_minor: "5000",
    logged_minor: "0",
  }),
  opened_at: timeReply("When the break was found first."),
  seen_at: timeReply("When the break was found last."),
});

export const CheckItem = model("Check", "A rule that is checked all the time, and when it was last.", {
  service,
  check: at("name", check),
  title: string({
    description: "What the check compares.",
    example: "each applied leg is one deal of the log",
  }),
  every_seconds: at(
    "everyMs",
    shown(smallInteger({ description: "Seconds between two runs, rounded up.", example: 60 }), (ms: bigint) =>
      Math.ceil(Number(ms) / SECOND_MS),
    ),
  ),
  completed_at: nullableTimeReply("When the check was last completed; null before the first time."),
  stale: bool({
    description: "The check was not completed for three intervals, so its result is out of date.",
    example: false,
  }),
  error: nullableString({ description: "Why the last run was incomplete; null when it was complete.", example: null }),
  open_breaks: smallInteger({ description: "Number of open breaks.", example: 1 }),
});
