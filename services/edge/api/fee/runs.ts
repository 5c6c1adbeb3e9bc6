import { bool, integer, model, nullableId, setOf, string } from "../../fields/field.ts";
import { at, or } from "../../fields/message.ts";
import { cursorBefore, idPage, integerCursor, limit100, limit500 } from "../../fields/page.ts";
import {
  currencyReply,
  idReply,
  investorLoginReply,
  masterLoginReply,
  moneyReply,
  nullableTimeReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { feeRunId, masterLogin } from "../schemas/request-fields.ts";
import { feeKind, feePaymentStatus, feeRunStatus } from "./payments.ts";

const feeRunKind = setOf("FeeRunKind", "Why fees were calculated.", {
  WEEKLY: "A week of the Master was closed.",
  ON_DEMAND: "An Investor withdrew money or left, so what it owed was collected at once.",
});

const count = (description: string, example: number) => integer({ description, example });

const RunReply = model("FeeRun", "A calculation of performance fees with its payments.", {
  id: idReply("Id of the run; the cursor of the listing.", 12),
  master_login: masterLoginReply(),
  kind: feeRunKind.known("Why fees were calculated.", "WEEKLY"),
  status: feeRunStatus.known("Status of the run.", "EXECUTED"),
  period_start: timeReply("Start of the period."),
  period_end: timeReply("Cut-off: what was booked before it belongs to the period."),
  is_decided: bool({
    description: "false while the fees of further Investors of a large pool are to be calculated.",
    example: true,
  }),
  payments_count: at("payments", count("Payments of the run. An Investor without a fee has none.", 3)),
  open_count: count("Payments that are not settled yet.", 0),
  executed_count: count("Payments that were collected.", 2),
  failed_count: count("Payments that could not be collected.", 0),
  due: moneyReply("Sum of the fees that were due.", 37.02),
  prepaid: moneyReply("The part of it that was paid by fees of before a restore of the database.", 0),
  collected: moneyReply("The sum of the payments that were executed.", 24.68),
  currency: currencyReply,
  created_at: timeReply("When the run was recorded."),
});

const RunPaymentReply = model("FeeRunPayment", "A payment of a fee run, in any status.", {
  id: idReply("Id of the payment; it has an explanation.", 21),
  investor_id: idReply("Internal id of the Investor.", 8),
  investor_mt5_login: at("investorLogin", investorLoginReply()),
  kind: feeKind.known("Kind of the fee.", "PF"),
  status: feePaymentStatus.known("Status of the payment.", "EXECUTED"),
  due: moneyReply("Fee that was due.", 12.34),
  prepaid: moneyReply("The part of it that was paid before.", 0),
  amount: moneyReply("What was collected so far.", 12.34),
  currency: currencyReply,
  mt5_transfer_id: at(
    "transferId",
    nullableId({ description: "Transfer id of the debit and the credit; null without one.", example: 77 }),
  ),
  mt5_op_id: at(
    "dealId",
    nullableId({ description: "Ticket on the Investor account; null without one.", example: 1_234_569 }),
  ),
  executed_at: nullableTimeReply("When the fee was paid; null until then."),
  cashflow_unique_key: string({
    description: "Key of the payment, as in the listing of payments.",
    example: "PF:3000003:3000001:12:W",
  }),
  created_at: timeReply("When the payment was recorded."),
});

/** Each run is answered with the sums of its payments. */
const DEFAULT_RUNS = 20;

export const listFeeRuns = route("GET /api/v1/perf-fee/runs", {
  scope: "fees:read",
  summary: "List weekly fee runs",
  description:
    "The weekly runs of a Master, or of all Masters, newest first, each with its cut-off, status and the sums of its payments. A week without a fee has a run without payments. Runs of withdrawals and unassigns are not listed; a payment names its run.",
  returns: "A page of runs.",
  query: {
    master_login: or(masterLogin, ""),
    limit: limit100(DEFAULT_RUNS),
    cursor: cursorBefore("Only older runs. Use next_cursor."),
  },
  reply: model("FeeRunPage", "A page of fee runs. Descending by id.", idPage(RunReply)),
  refusals: ["master_not_found"],
  call: ({ fees }, request, context) => fees.listRuns(request, context),
});

export const getFeeRun = route("GET /api/v1/perf-fee/runs/:run_id", {
  scope: "fees:read",
  summary: "Get a fee run",
  description: "A run of a week, of a withdrawal or of an unassign, with the sums of its payments.",
  returns: "The run.",
  params: { run_id: feeRunId },
  reply: RunReply,
  refusals: ["fee_run_not_found"],
  call: ({ fees }, request, context) => fees.getRun(request, context),
});

export const listFeeRunPayments = route("GET /api/v1/perf-fee/runs/:run_id/payments", {
  scope: "fees:read",
  summary: "List the payments of a fee run",
  description:
    "All payments of a run, also those that wait, failed or became debt, in the order of the Investors' logins.",
  returns: "A page of payments.",
  params: { run_id: feeRunId },
  query: {
    limit: limit500(100),
    cursor: at("afterPaymentId", or(integerCursor("Only payments after this one. Use next_cursor."), 0n)),
  },
  reply: model(
    "FeeRunPaymentPage",
    "A page of payments. By Investor.",
    idPage(RunPaymentReply, "By the login of the Investor.", 21),
  ),
  refusals: ["fee_run_not_found"],
  call: ({ fees }, request, context) => fees.listRunPayments(request, context),
});
