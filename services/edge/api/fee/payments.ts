import { model, nullableString, setOf, string } from "../../fields/field.ts";
import { at, or } from "../../fields/message.ts";
import { ascendingPage, cursorBefore, idPage, integerCursor, limit100, limit500 } from "../../fields/page.ts";
import {
  currencyReply,
  idReply,
  investorLoginReply,
  masterLoginReply,
  moneyReply,
  paymentLoginReply,
  ticketReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { investorLogin, masterLogin } from "../schemas/request-fields.ts";

export const feeKind = setOf("FeeKind", "Kind of a fee.", {
  PF: "A performance fee, collected when it was charged.",
  PF_DEBT: "The rest of a performance fee that was charged before, when there was not enough money.",
});

export const feeRunStatus = setOf("FeeRunStatus", "Status of a fee run.", {
  SCHEDULED: "The fees are calculated, and none was sent.",
  CALCULATING: "The fees are being calculated.",
  EXECUTING: "The fees are being collected.",
  EXECUTED: "Every fee was collected.",
  PARTIALLY_EXECUTED: "Some fees were collected, others not.",
  FAILED: "No fee was collected.",
});

export const feePaymentStatus = setOf("FeePaymentStatus", "Status of a fee payment.", {
  PENDING: "It waits to be collected.",
  EXECUTING: "It is being collected.",
  EXECUTED: "It was collected.",
  SKIPPED: "It is not collected.",
  DEFERRED: "It is a debt that is collected later.",
  REVERSED: "It was debited, could not be credited, and was given back.",
});

const payment = {
  id: idReply("Id of the payment; the cursor of this listing.", 21),
  run_id: idReply("Id of the run: of a week, or of the withdrawal or unassign that took the fee.", 12),
  run_status: feeRunStatus.known("Status of the run.", "EXECUTED"),
  run_period_start: timeReply("Start of the period."),
  run_period_end: timeReply("End of the period."),
  investor_id: idReply("Internal id of the Investor.", 8),
  investor_mt5_login: at("investorLogin", investorLoginReply()),
  amount: moneyReply("Fee that was paid.", 12.34),
  currency: currencyReply,
  status: feePaymentStatus.known("Status of the payment; this listing shows EXECUTED ones only.", "EXECUTED"),
  mt5_transfer_id: at("transferId", idReply("Transfer id that links the debit and the credit.", 77)),
  mt5_op_id: at("dealId", ticketReply("Ticket on the Investor account.", 1_234_569)),
  executed_at: timeReply("When the fee was paid."),
  cashflow_id: idReply("Id of the payment-account credit.", 31),
  cashflow_unique_key: string({
    description:
      "Fee kind, Investor login, Master login, run id and a suffix, separated by colons. The suffix is W for a week, WD and an operation id for a withdrawal, UA and a subscription id for an unassign, DEBT for a debt that was collected later, IM and a hash for a fee that was collected before a restore of the database.",
    example: "PF:3000003:3000001:12:W",
  }),
  created_at: timeReply("When the payment was recorded."),
};

const Payment = model("FeePayment", "A performance fee that an Investor paid.", payment);

const PaymentToMaster = model("FeePaymentToMaster", "A performance fee that an Investor paid to a Master.", {
  ...payment,
  master_login: masterLoginReply(),
  payment_account_login: paymentLoginReply("Login of the account that was credited."),
});

const Credit = model("PaymentCredit", "Money that a payment account received.", {
  id: idReply("Id of the credit; the cursor of this listing.", 31),
  master_payment_login: at("paymentAccountLogin", paymentLoginReply()),
  investor_mt5_login: at(
    "investorLogin",
    nullableString({
      description: "Login of the Investor; null when the credit is not of one Investor.",
      example: "3000003",
    }),
  ),
  kind: feeKind.known("Kind of the fee.", "PF"),
  amount: moneyReply("Credited amount.", 12.34),
  currency: currencyReply,
  mt5_op_id: at("dealId", ticketReply("Ticket on the payment account.", 1_234_570)),
  mt5_ts: at("dealAt", timeReply("Time of the deal.")),
  created_at: timeReply("When the credit was recorded."),
});

export const listFeePayments = route("GET /api/v1/perf-fee/master/:master_login/investor-payments", {
  scope: "fees:read",
  summary: "List fee payments of a Master's Investors",
  description: "Executed payments above zero, newest first. A payment may appear on two pages; count each id once.",
  returns: "A page of payments.",
  params: { master_login: masterLogin },
  query: {
    limit: limit500(100),
    cursor: cursorBefore("Only payments with a lower id. Use next_cursor."),
  },
  reply: model("FeePaymentPage", "A page of fee payments. Descending by id.", {
    master_login: masterLoginReply(),
    payment_account_login: paymentLoginReply(),
    ...idPage(Payment),
  }),
  refusals: ["master_not_found"],

  async call({ fees }, request, context) {
    const page = await fees.listPayments({ ...request, investorLogin: "" }, context);
    return { ...page, masterLogin: request.masterLogin };
  },
});

export const listFeePaymentsOfInvestor = route("GET /api/v1/perf-fee/investor/:investor_login/payments", {
  scope: "fees:read",
  summary: "List fee payments of an Investor",
  description:
    "Executed payments above zero to all Masters that the Investor follows or has followed, newest first. A payment may appear on two pages; count each id once.",
  returns: "A page of payments.",
  params: { investor_login: investorLogin },
  query: {
    limit: limit500(100),
    cursor: cursorBefore("Only payments with a lower id. Use next_cursor."),
  },
  reply: model("InvestorFeePaymentPage", "A page of fee payments of one Investor. Descending by id.", {
    investor_login: investorLoginReply(),
    ...idPage(PaymentToMaster),
  }),
  refusals: ["investor_not_found"],

  async call({ fees }, request, context) {
    const page = await fees.listPayments({ ...request, masterLogin: "" }, context);
    return { ...page, investorLogin: request.investorLogin };
  },
});

export const listPaymentCredits = route("GET /api/v1/perf-fee/transactions", {
  scope: "fees:read",
  summary: "List payment account credits",
  description: "Credits on the payment account of the Master, ascending by id.",
  returns: "A page of credits.",
  query: {
    master_login: masterLogin,
    limit: limit100(5),
    cursor: at(
      "afterId",
      or(integerCursor("Only credits with a greater id. Use next_cursor, also that of the last page."), 0n),
    ),
  },
  reply: model("PaymentCreditPage", "A page of payment-account credits. Ascending by id.", {
    payment_account_login: paymentLoginReply(),
    ...ascendingPage(Credit),
  }),
  refusals: ["master_not_found"],

  async call({ fees }, request, context) {
    const page = await fees.listPaymentCredits(request, context);
    return { ...page, nextCursor: page.items.at(-1)?.id ?? request.afterId };
  },
});
