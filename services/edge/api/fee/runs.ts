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

const RUN = {
  id: 12,
  master_login: "3000001",
  kind: "WEEKLY",
  status: "EXECUTED",
  period_start: "2026-01-02T03:04:05.678000",
  period_end: "2026-02-03T04:05:06.789000",
  is_decided: true,
  payments_count: 3,
  open_count: 0,
  executed_count: 2,
  failed_count: 0,
  due: 37.02,
  prepaid: 0,
  collected: 24.68,
  currency: "USD",
  created_at: "2026-02-03T04:05:06.789000",
} as const;

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
  examples: [
    {
      name: "of_a_master",
      summary: "The last week of a Master",
      request: { query: { master_login: "3000001", limit: "1" } },
      answer: { items: [RUN], next_cursor: 12, has_more: true },
    },
  ],

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
  examples: [{ name: "week", summary: "A run of a week", request: { params: { run_id: "12" } }, answer: RUN }],

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
  examples: [
    {
      name: "week",
      summary: "The fees of a week",
      request: { params: { run_id: "12" }, query: {} },
      answer: {
        items: [
          {
            id: 21,
            investor_id: 8,
            investor_mt5_login: "3000003",
            kind: "PF",
            status: "EXECUTED",
            due: 12.34,
            prepaid: 0,
            amount: 12.34,
            currency: "USD",
            mt5_transfer_id: 77,
            mt5_op_id: 1234569,
            executed_at: "2026-02-03T04:05:06.789000",
            cashflow_unique_key: "PF:3000003:3000001:12:W",
            created_at: "2026-02-03T04:05:06.789000",
          },
          {
            id: 22,
            investor_id: 9,
            investor_mt5_login: "3000004",
            kind: "PF",
            status: "DEFERRED",
            due: 12.34,
            prepaid: 0,
            amount: 0,
            currency: "USD",
            mt5_transfer_id: null,
            mt5_op_id: null,
            executed_at: null,
            cashflow_unique_key: "PF:3000004:3000001:12:W",
            created_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],

  async handle({ fees }, { params, query }, context) {
    const limit = Number(query.limit ?? DEFAULT_PAYMENTS);
    const request = { runId: BigInt(params.run_id), afterPaymentId: BigInt(query.cursor ?? 0), limit };
    const page = await fees.listRunPayments(request, context);
    return { items: page.items.map(runPaymentItem), ...endOf(page) };
  },
});
