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
  examples: [
    {
      name: "of_a_master",
      summary: "The last week of a Master",
      request: { query: { master_login: "3000001", limit: "1" } },
      answer: { items: [RUN], next_cursor: 12, has_more: true },
    },
  ],
  call: ({ fees }, { limit, ...request }, context) => fees.listRuns({ ...request, limit }, context),
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
  call: ({ fees }, { limit, ...request }, context) => fees.listRunPayments({ ...request, limit }, context),
});
