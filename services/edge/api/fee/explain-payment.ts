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
} from "../schemas/reply-fields.ts";
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
    "Why a payment has its amount, as it was recorded with the decision: profit with its rates and fee versions, high-water marks, open result, debts and rounding. `due` less `prepaid` is `amount` and `uncollected`, and the shares of `calculation.charged` add up to its `exact_fee`. What is not known any more is named in `missing`, never guessed.",
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
  examples: [
    {
      name: "unassign",
      summary: "A fee at an unassign",
      request: { params: { payment_id: "21" } },
      answer: {
        payment_id: 21,
        kind: "PF",
        status: "EXECUTED",
        cashflow_unique_key: "PF:3000003:3000001:12:UA9",
        master_login: "3000001",
        investor_login: "3000003",
        run_id: 12,
        run_period_start: "2026-01-02T03:04:05.678000",
        run_period_end: "2026-02-03T04:05:06.789000",
        due: "115.87",
        prepaid: "0.00",
        amount: "115.87",
        uncollected: "0.00",
        executed_at: "2026-02-03T04:05:06.789000",
        complete: true,
        missing: [],
        calculation: {
          at: "2026-02-03T04:05:06.789000",
          through_deal_id: 1234567,
          through_deal_at: "2026-01-02T03:04:05.678000",
          result: "421.37",
          high_water_mark_before: "0.00",
          high_water_mark_after: "421.37",
          floating: "0.00",
          marked_at: null,
          marked_late_seconds: null,
          charged: [
            {
              amount: "421.37",
              earned_from: "2026-01-02T03:04:05.678000",
              earned_to: "2026-01-02T03:04:05.678000",
              rate: "0.275000",
              version_id: 17,
              share: "115.87675",
            },
          ],
          spared: [],
          exact_fee: "115.87675",
          rounded_off: "0.00675",
          fee: "115.87",
          debt_before: "0.00",
        },
        flows: {
          after: null,
          through: "2026-02-03T04:05:06.789000",
          inflow: "5000.00",
          outflow: "0.00",
        },
        debt_parts: [],
        lines: ["Together the exact fee is 115.87675. It is rounded down once, by 0.00675, to 115.87."],
      },
    },
    {
      name: "debt",
      summary: "A debt whose origin is not known",
      request: { params: { payment_id: "22" } },
      answer: {
        payment_id: 22,
        kind: "PF_DEBT",
        status: "DEFERRED",
        cashflow_unique_key: "PF:3000003:3000001:12:DEBT",
        master_login: "3000001",
        investor_login: "3000003",
        run_id: 12,
        run_period_start: "2026-01-02T03:04:05.678000",
        run_period_end: "2026-02-03T04:05:06.789000",
        due: "12.34",
        prepaid: "2.00",
        amount: "0.00",
        uncollected: "10.34",
        executed_at: null,
        complete: false,
        missing: [{ code: "debt_parts", detail: "This debt comes from more payments than are shown." }],
        calculation: null,
        flows: null,
        debt_parts: [{ payment_id: 20, amount: "7.00", owed_since: "2026-01-02T03:04:05.678000" }],
        lines: ["7.00 of it is of payment 20, owed since 2026-01-02 03:04:05 UTC."],
      },
    },
  ],
  call: ({ fees }, request, context) => fees.explainPayment(request, context),
});
