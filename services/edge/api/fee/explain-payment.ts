import { Type } from "typebox";
import { calculationReply, flowsReply, linesReply, missingCode } from "../schemas/fee-explanation.ts";
import { feeKind, feePaymentStatus } from "../schemas/fee-listings.ts";
import { bool, list, model, string } from "../../fields/field.ts";
import { at, ofWhole } from "../../fields/message.ts";
import {
  decimalReply,
  idReply,
  investorLoginReply,
  masterLoginReply,
  nullableTimeReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { feePaymentId } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

const Missing = model("FeeExplanationGap", "A reason why an explanation is not the whole one.", {
  code: missingCode.known("What is missing.", "imported"),
  detail: at("message", string({ description: "The reason in a sentence.", example: "It is not recorded." })),
});

const DebtPart = model("FeeDebtPart", "What could not be collected of an earlier payment.", {
  payment_id: idReply("Id of the earlier payment; it has an explanation of its own.", 20),
  amount: decimalReply("The part of it that became debt."),
  owed_since: timeReply("Since when it is owed."),
});

export const explainPayment = route({
  operationId: "getFeePaymentExplanation",
  method: "GET",
  url: "/api/v1/perf-fee/payments/:payment_id/explanation",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "Explain a fee payment",
  description:
    "Why a payment has its amount, as it was recorded with the decision: profit with its rates and fee versions, high-water marks, open result, debts and rounding. `due` less `prepaid` is `amount` and `uncollected`, and the shares of `calculation.charged` add up to its `exact_fee`. What is no longer known is named in `missing`, never guessed.",
  returns: "The explanation.",
  params: Type.Object({ payment_id: feePaymentId }),
  reply: model("FeePaymentExplanation", "Why a fee payment has its amount.", {
    payment_id: idReply("Id of the payment.", 21),
    kind: feeKind.known("Kind of the fee.", "PF"),
    status: feePaymentStatus.known("Status of the payment.", "EXECUTED"),
    cashflow_unique_key: string({ description: "As in the listings.", example: "PF:3000003:3000001:12:W" }),
    master_login: masterLoginReply(),
    investor_login: investorLoginReply(),
    run_id: idReply("Id of the run.", 12),
    run_period_start: timeReply("Start of the period."),
    run_period_end: timeReply("End of the period."),
    due: decimalReply("The fee, or the debt, that was due."),
    prepaid: decimalReply("The part of it that was collected before a restore of the database."),
    amount: decimalReply("What was collected; 0.00 until then."),
    uncollected: decimalReply("What could not be collected and became debt."),
    executed_at: nullableTimeReply("When it was collected; null until then."),
    complete: ofWhole(
      bool({
        description: "Whether this is the whole explanation; false as long as `missing` has items.",
        example: true,
      }),
      ({ missing }: { readonly missing: readonly unknown[] }) => missing.length === 0,
    ),
    missing: list(Missing, { description: "Why it is not the whole explanation." }),
    calculation: calculationReply("How the fee was calculated; null for a debt, and where it is not known."),
    flows: flowsReply,
    debt_parts: list(DebtPart, { description: "What a debt is made of, the oldest first; at most 100 items." }),
    lines: linesReply,
  }),
  refusals: ["fee_payment_not_found"],
  call: ({ fees }, request, context) => fees.explainPayment(request, context),
});
