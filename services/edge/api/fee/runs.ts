import { Type } from "typebox";
import { RunPaymentReply, runItem, runPaymentItem, RunReply } from "../schemas/fee-run.ts";
import { bool, model, nullableInteger } from "../../fields/field.ts";
import { descendingPage } from "../schemas/page.ts";
import { feeRunId, integerCursor, limit100, limit500, masterLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";
import { beforeId, endOf } from "./descending.ts";

/** Each run is answered with the sums of its payments. */
const DEFAULT_RUNS = 20;
const DEFAULT_PAYMENTS = 100;

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
    master_login: Type.Optional(masterLogin),
    limit: limit100(DEFAULT_RUNS),
    cursor: Type.Optional(integerCursor("Only older runs. Use next_cursor.")),
  }),
  reply: model("FeeRunPage", "A page of fee runs. Descending by id.", descendingPage(RunReply)),
  refusals: ["master_not_found"],

  async handle({ fees }, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_RUNS);
    const page = await fees.listRuns(
      { masterLogin: query.master_login ?? "", beforeId: beforeId(query.cursor), limit },
      context,
    );
    return { items: page.items.map(runItem), ...endOf(page) };
  },
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

  handle: async ({ fees }, { params }, context) =>
    runItem(await fees.getRun({ runId: BigInt(params.run_id) }, context)),
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
    limit: limit500(DEFAULT_PAYMENTS),
    cursor: Type.Optional(integerCursor("Only payments after this one. Use next_cursor.")),
  }),
  reply: model("FeeRunPaymentPage", "A page of payments. By Investor.", {
    items: Type.Array(RunPaymentReply, { description: "By the login of the Investor." }),
    next_cursor: nullableInteger({ description: "Cursor of the next page; null on the last one.", example: 21 }),
    has_more: bool({ description: "Whether another page follows.", example: false }),
  }),
  refusals: ["fee_run_not_found"],

  async handle({ fees }, { params, query }, context) {
    const limit = Number(query.limit ?? DEFAULT_PAYMENTS);
    const request = { runId: BigInt(params.run_id), afterPaymentId: BigInt(query.cursor ?? 0), limit };
    const page = await fees.listRunPayments(request, context);
    return { items: page.items.map(runPaymentItem), ...endOf(page) };
  },
});
