import { SECOND_MS } from "#kernel/values/duration.ts";
import { bool, list, model, nullableString, read, setOf, smallInteger, string, text } from "../../fields/field.ts";
import { at, optional, shown } from "../../fields/message.ts";
import { opaquePage } from "../../fields/page.ts";
import { moneyReply, nullableTimeReply, ticketReply, timeReply } from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { route } from "../../http/route.ts";
import { refuse } from "../../problems/refusals.ts";
import { aboutOperationFilter } from "../schemas/request-fields.ts";
import { caseId, evidenceReply, readCaseId } from "../schemas/review.ts";
import { aboutOperation, pageOfServices, serviceOf } from "./services.ts";

/** The services that check their books, in the order of the list. */
const checkedService = setOf("CheckedService", "A service with books that are checked.", {
  platform: "Transfers, deals and the logs of accounts.",
  subscription: "Pools, holdings, mirrors and exits.",
  fee: "Fee runs, payments and credits.",
  funding: "Deposits and withdrawals.",
});
const CHECKED = checkedService.values;

/** Of a path. */
const breakId = read(
  text("break_id", {
    description: "Id of the break.",
    example: "fee-17",
    shown: { pattern: "^(platform|subscription|fee|funding)-[1-9][0-9]{0,17}$" },
  }),
  readCaseId<(typeof CHECKED)[number]>,
);

const service = checkedService.of("Service whose books the check covers.", "platform");
const check = string({ description: "Name of the check.", example: "deal_matching" });

const BreakItem = model("Break", "A difference that a check has found and that is still there.", {
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

const CheckItem = model("Check", "A rule that is checked all the time, and when it was last.", {
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

export const listBreaks = pageRoute("GET /api/v1/ops/breaks", {
  scope: "ops",
  summary: "List reconciliation breaks",
  description:
    "Open breaks by service and number, page by page. Each page also lists all checks and when each was last completed. Unreachable services are listed in `unreachable`; their breaks and checks are missing. `operation_id` finds the breaks of one operation; one of a whole account is found only by a deal that it names.",
  returns: "A page of breaks, and the state of every check.",
  filter: { operation_id: optional(aboutOperationFilter) },
  reply: model("BreakPage", "A page of breaks, with all checks.", {
    ...opaquePage(BreakItem, "By service, then ascending by number."),
    checks: list(CheckItem, { description: "All checks, on every page." }),
    unreachable: list(checkedService.of("Name of a service.", "fee"), {
      description:
        "Services that could not be reached. Their breaks and checks are missing; with `operation_id` also breaks about movements that only they know.",
    }),
  }),
  refusals: ["operation_not_found", "operation_removed"],

  async call(deps, { operationId, limit }, after, context) {
    const about = await aboutOperation(deps, operationId, context);
    const { answers, unreachable, ...page } = await pageOfServices(
      {
        services: CHECKED,
        after,
        limit,
        list: (service, part, within) =>
          serviceOf(deps, service).listBreaks({ ...part, withoutChecks: false, about: about.names[service] }, within),
      },
      context,
    );
    return {
      ...page,
      checks: answers.flatMap(({ service, checks }) => checks.map((check) => ({ ...check, service }))),
      unreachable: CHECKED.filter((service) => [...unreachable, ...about.unreachable].includes(service)),
    };
  },
  next: ({ next }) => next,
});

export const getBreak = route("GET /api/v1/ops/breaks/:break_id", {
  scope: "ops",
  summary: "Get a reconciliation break",
  description:
    "An open break by its id. 404 when there is none: the last run of the check did not find the difference again, or it never existed.",
  returns: "The break.",
  params: { break_id: breakId },
  reply: BreakItem,
  refusals: ["break_not_found"],

  async call(deps, { breakId: { service, id } }, context) {
    const page = { afterId: id - 1n, limit: 1, withoutChecks: true };
    const [first] = (await serviceOf(deps, service).listBreaks(page, context)).items;
    if (first?.id !== id) throw refuse("break_not_found", `There is no open break ${service}-${id}.`);
    return { ...first, service };
  },
});
