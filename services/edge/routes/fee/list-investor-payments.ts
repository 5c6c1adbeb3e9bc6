import { Type } from "typebox";
import type { InvestorPayment } from "#proto/pamm/fee/v1/fee.ts";
import { integer, string } from "../../schemas/field.ts";
import { idReply, loginReply, moneyReply, timeReply } from "../../schemas/reply-fields.ts";
import { integerCursor, limit500, masterLogin } from "../../schemas/request-fields.ts";
import { descendingPage } from "../../schemas/page.ts";
import { route } from "../../route.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { beforeId } from "./before-id.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 100;

const Payment = Type.Object({
  id: idReply("Id of the payment; the cursor of this listing."),
  run_id: idReply("Id of the run: of a week, or of the withdrawal or unassign that took the fee."),
  run_status: string({ description: "Status of the run.", example: "EXECUTED" }),
  run_period_start: timeReply("Start of the period."),
  run_period_end: timeReply("End of the period."),
  investor_id: idReply("Internal id of the Investor."),
  investor_mt5_login: loginReply("Login of the Investor."),
  amount: moneyReply("Fee that was paid."),
  currency: string({ description: "USD.", example: "USD" }),
  status: string({ description: "Status of the payment.", example: "EXECUTED" }),
  mt5_transfer_id: integer({ description: "Transfer id that links the debit and the credit.", example: 7 }),
  mt5_op_id: integer({ description: "Ticket on the Investor account.", example: 1234569 }),
  executed_at: timeReply("When the fee was paid."),
  cashflow_id: idReply("Id of the payment-account credit."),
  cashflow_unique_key: string({
    description:
      "Fee kind, Investor login, Master login, run id and a suffix, separated by colons. The suffix is W for a week, WD and an operation id for a withdrawal, UA and a subscription id for an unassign, DEBT for a debt that was collected later.",
    example: "PF:3000002:3000001:12:W",
  }),
  created_at: timeReply("When the payment was recorded."),
});

export const listInvestorPayments = route({
  method: "GET",
  url: "/api/v1/perf-fee/master/:master_login/investor-payments",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List fee payments of a Master's Investors",
  description: "Executed payments above zero, newest first. A payment may appear on two pages; count each id once.",
  params: Type.Object({ master_login: masterLogin }),
  query: Type.Object({
    limit: Type.Optional(limit500(DEFAULT_LIMIT)),
    cursor: Type.Optional(integerCursor("Only payments with a lower id. Use next_cursor.")),
  }),
  reply: Type.Object({
    master_login: loginReply("Trading login of the Master."),
    payment_account_login: loginReply("Login of the payment account."),
    ...descendingPage(Payment),
  }),
  refusals: ["master_not_found"],

  async handle({ fees }, { params, query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const page = await fees.listInvestorPayments(
      { masterLogin: params.master_login, beforeId: beforeId(query.cursor), limit },
      context,
    );
    const last = page.hasMore ? page.items.at(-1) : undefined;
    return {
      master_login: page.masterLogin,
      payment_account_login: page.paymentAccountLogin,
      items: page.items.map(paymentItem),
      next_cursor: last === undefined ? null : jsonInteger(last.id),
      has_more: page.hasMore,
    };
  },
});

function paymentItem(payment: InvestorPayment) {
  return {
    id: payment.id,
    run_id: payment.runId,
    run_status: payment.runStatus,
    run_period_start: timestamp(payment.runPeriodStart),
    run_period_end: timestamp(payment.runPeriodEnd),
    investor_id: payment.investorId,
    investor_mt5_login: payment.investorLogin,
    amount: moneyNumber(payment.amount),
    currency: payment.amount?.currencyCode ?? "",
    status: payment.status,
    mt5_transfer_id: payment.transferId,
    mt5_op_id: payment.dealId,
    executed_at: timestamp(payment.executedAt),
    cashflow_id: payment.cashflowId,
    cashflow_unique_key: payment.cashflowUniqueKey,
    created_at: timestamp(payment.createdAt),
  };
}
