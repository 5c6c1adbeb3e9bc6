import { currencyReply } from "../../fields/currency.ts";
import { bool, integer, model, nullableId, setOf, string } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import { feeKind, feePaymentStatus, feeRunStatus } from "./fee-listings.ts";
import {
  idReply,
  investorLoginReply,
  masterLoginReply,
  moneyReply,
  nullableTimeReply,
  timeReply,
} from "../../fields/reply-fields.ts";

const feeRunKind = setOf("FeeRunKind", "Why fees were calculated.", {
  WEEKLY: "A week of the Master was closed.",
  ON_DEMAND: "An Investor withdrew money or left, so what it owed was collected at once.",
});

const count = (description: string, example: number) => integer({ description, example });

export const RunReply = model("FeeRun", "A calculation of performance fees with its payments.", {
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

export const RunPaymentReply = model("FeeRunPayment", "A payment of a fee run, in any status.", {
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
