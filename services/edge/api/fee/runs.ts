import { Type } from "typebox";
import { RunPaymentReply, RunReply } from "../schemas/fee-run.ts";
import { model } from "../../fields/field.ts";
import { at, or } from "../../fields/message.ts";
import { idPage } from "../schemas/page.ts";
import { cursorBefore, feeRunId, integerCursor, limit100, limit500, masterLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

/** Each run is answered with the sums of its payments. */
const DEFAULT_RUNS = 20;

export const listRuns = route({
  operationId: "listFeeRuns",
  method: "GET",
  url: "/api/v1/perf-fee/runs",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List weekly fee runs",
  description:
    "The weekly runs of a Master, or of all Masters, newest first, each with its cut-off, status and the sums of its payments. A week without a fee has a run without payments. Runs of withdrawals and unassigns are not listed; a payment names its run.",
  returns: "A page of runs.",
  query: Type.Object({
    master_login: or(masterLogin, ""),
    limit: limit100(DEFAULT_RUNS),
    cursor: cursorBefore("Only older runs. Use next_cursor."),
  }),
  reply: model("FeeRunPage", "A page of fee runs. Descending by id.", idPage(RunReply)),
  refusals: ["master_not_found"],
  call: ({ fees }, request, context) => fees.listRuns(request, context),
});

export const getRun = route({
  operationId: "getFeeRun",
  method: "GET",
  url: "/api/v1/perf-fee/runs/:run_id",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "Get a fee run",
  description: "A run of a week, of a withdrawal or of an unassign, with the sums of its payments.",
  returns: "The run.",
  params: Type.Object({ run_id: feeRunId }),
  reply: RunReply,
  refusals: ["fee_run_not_found"],
  call: ({ fees }, request, context) => fees.getRun(request, context),
});

export const listRunPayments = route({
  operationId: "listFeeRunPayments",
  method: "GET",
  url: "/api/v1/perf-fee/runs/:run_id/payments",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List the payments of a fee run",
  description:
    "All payments of a run, also those that wait, failed or became debt, in the order of the Investors' logins.",
  returns: "A page of payments.",
  params: Type.Object({ run_id: feeRunId }),
  query: Type.Object({
    limit: limit500(100),
    cursor: at("afterPaymentId", or(integerCursor("Only payments after this one. Use next_cursor."), 0n)),
  }),
  reply: model(
    "FeeRunPaymentPage",
    "A page of payments. By Investor.",
    idPage(RunPaymentReply, "By the login of the Investor.", 21),
  ),
  refusals: ["fee_run_not_found"],
  call: ({ fees }, request, context) => fees.listRunPayments(request, context),
});
