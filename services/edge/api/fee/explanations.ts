import {
  bool,
  list,
  model,
  modelOrNull,
  nullableId,
  nullableInteger,
  nullableString,
  setOf,
  string,
} from "../../fields/field.ts";
import { at, ofWhole, shown } from "../../fields/message.ts";
import {
  decimalReply,
  idReply,
  investorLoginReply,
  masterLoginReply,
  nullableTimeReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { feePaymentId, investorLogin } from "../schemas/request-fields.ts";
import { jsonInteger } from "../../wire/number.ts";
import { feeKind, feePaymentStatus } from "./payments.ts";

const exactReply = (description: string, example: string) =>
  string({ description, example, shown: { pattern: "^-?[0-9]+\\.[0-9]{2,14}$" } });

const linesReply = list(
  string({ description: "A sentence.", example: "The high-water mark rises from 0.00 to 421.37." }),
  { description: "The same in sentences. Texts may change." },
);

const Layer = model("FeeLayer", "Profit that was earned at one rate.", {
  amount: exactReply("Profit above the high-water mark.", "421.37"),
  earned_from: timeReply("Time of the first deal that it comes from."),
  earned_to: timeReply("Time of the last one."),
  rate: nullableString({
    description: "Rate in force then, six decimals; null in the sum of the oldest layers of a long list.",
    example: "0.275000",
    shown: { pattern: "^[01]\\.[0-9]{6}$" },
  }),
  version_id: nullableInteger({
    description: "Fee version that the rate is of; null where none was in force, or where it is not known.",
    example: 17,
  }),
  share: exactReply("Amount times rate.", "115.87675"),
});

const Calculation = model("FeeCalculation", "How a fee follows from the profit with one Master.", {
  at: timeReply("The cut-off of the week, or the instant of the decision."),
  through_deal_id: nullableId({
    description: "Last deal of the Master whose result counts; null before the first one, and where it is not known.",
    example: 1_234_567,
  }),
  through_deal_at: nullableTimeReply("Time of this deal."),
  result: at(
    "earned",
    exactReply("Sum of all results since the first assign; deposits and withdrawals are no part of it.", "421.37"),
  ),
  high_water_mark_before: at("markBefore", exactReply("Result up to which fees were charged before.", "0.00")),
  high_water_mark_after: at("markAfter", exactReply("Result up to which fees are charged with this fee.", "421.37")),
  floating: exactReply("Share of the result of open positions. A loss spares the profit earned last.", "0.00"),
  marked_at: nullableTimeReply("When the open positions were valued; null without any."),
  marked_late_seconds: at(
    "markedLateMs",
    shown(
      nullableInteger({
        description:
          "By how much `marked_at` is later than the cut-off of the week, because the week was closed late; null when it was closed in time.",
        example: null,
      }),
      (ms: bigint | undefined) => (ms === undefined ? null : jsonInteger(ms / 1_000n)),
    ),
  ),
  charged: list(Layer, { description: "Profit that the fee is charged on, the oldest first; at most 100 items." }),
  spared: list(Layer, { description: "Profit that an open loss spares for now; at most 100 items." }),
  exact_fee: exactReply("Sum of the shares of `charged`.", "115.87675"),
  rounded_off: exactReply("What rounding down to the cent takes off, once.", "0.00675"),
  fee: exactReply("The fee: `exact_fee` less `rounded_off`.", "115.87"),
  debt_before: exactReply("Debts to all Masters at that time.", "0.00"),
});

const calculationReply = (description: string) => modelOrNull(Calculation, description);

const Flows = model(
  "FeeFlows",
  "What joined and left the pool between two fees. It changes neither the result nor the mark.",
  {
    after: nullableTimeReply("The fee before; null for all since the first assign."),
    through: timeReply("The cut-off, or the instant of the decision."),
    inflow: decimalReply("What the Investor had at an assign, and deposits."),
    outflow: decimalReply("Withdrawals and fees."),
  },
);

const flowsReply = modelOrNull(Flows, "Flows since the fee before; null for a debt, and where they are not known.");

const missingCode = setOf("FeeMissing", "Why an explanation is not the whole one.", {
  imported: "The fee was collected before a restore of the database, which has lost what it was for.",
  calculation: "No calculation that adds up to the fee is recorded.",
  flows: "Deposits and withdrawals since the fee before are no longer kept, or cannot be read at the moment.",
  debt_parts: "A debt comes from more payments than are shown.",
});

const Missing = model("FeeExplanationGap", "A reason why an explanation is not the whole one.", {
  code: missingCode.known("What is missing.", "imported"),
  detail: at("message", string({ description: "The reason in a sentence.", example: "It is not recorded." })),
});

const DebtPart = model("FeeDebtPart", "What could not be collected of an earlier payment.", {
  payment_id: idReply("Id of the earlier payment; it has an explanation of its own.", 20),
  amount: decimalReply("The part of it that became debt."),
  owed_since: timeReply("Since when it is owed."),
});

export const getFeePaymentExplanation = route("GET /api/v1/perf-fee/payments/:payment_id/explanation", {
  scope: "fees:read",
  summary: "Explain a fee payment",
  description:
    "Why a payment has its amount, as it was recorded with the decision: profit with its rates and fee versions, high-water marks, open result, debts and rounding. `due` less `prepaid` is `amount` and `uncollected`, and the shares of `calculation.charged` add up to its `exact_fee`. What is no longer known is named in `missing`, never guessed.",
  returns: "The explanation.",
  params: { payment_id: feePaymentId },
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

const Debt = model("PendingFeeDebt", "Fees that were due before and could not be collected.", {
  master_login: masterLoginReply("Login of the Master to whom it is owed."),
  amount: decimalReply("What is owed."),
  owed_since: timeReply("Since when the oldest part is owed."),
});

export const getPendingFee = route("GET /api/v1/investor/:investor_login/performance-fee/pending", {
  scope: "fees:read",
  summary: "Get the pending fee",
  description:
    "What would be collected if everything were crystallised now, decided by the same rule as a week and a withdrawal, without any effect. With a flat Master it is what a withdrawal shows as `perf_fee_pending_at_request`; an open loss lowers it, as at the end of a week. `calculation.through_deal_id` says up to which deal results count.",
  returns: "The pending fee.",
  params: { investor_login: investorLogin },
  reply: model("PendingFee", "What would be collected if everything were crystallised now.", {
    investor_login: investorLoginReply(),
    master_login: nullableString({
      description: "Master of the pool that the Investor is in; null outside a pool, when only debts are pending.",
      example: "3000001",
    }),
    enabled: bool({ description: "Whether fees are collected now; if not, nothing is pending.", example: true }),
    at: timeReply("The instant of this decision."),
    pending: decimalReply("What would be collected: `fee` and `debt`, less `prepaid`."),
    fee: decimalReply("The fee for the profit above the high-water mark."),
    debt: decimalReply("Debts to all Masters."),
    prepaid: decimalReply("The part of it that was collected before a restore of the database."),
    open_weekly: decimalReply("Fees of closed weeks that are decided and not collected yet; not part of `pending`."),
    calculation: calculationReply("How the fee is calculated; null outside a pool, and while fees are switched off."),
    debts: list(Debt, { description: "The debts, the oldest first; at most 100 items." }),
    lines: linesReply,
  }),
  refusals: ["investor_not_found", "allocation_in_progress", "safety_stop", "platform_unavailable"],
  call: ({ fees }, request, context) => fees.getPendingFee(request, context),
});
