import {
  list,
  model,
  modelOrNull,
  nullableId,
  nullableInteger,
  nullableString,
  setOf,
  string,
} from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { decimalReply, nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";

const exactReply = (description: string, example: string) =>
  string({ description, example, shown: { pattern: "^-?[0-9]+\\.[0-9]{2,14}$" } });

export const linesReply = list(
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

export const calculationReply = (description: string) => modelOrNull(Calculation, description);

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

export const flowsReply = modelOrNull(
  Flows,
  "Flows since the fee before; null for a debt, and where they are not known.",
);

export const missingCode = setOf("FeeMissing", "Why an explanation is not the whole one.", {
  imported: "The fee was collected before a restore of the database, which has lost what it was for.",
  calculation: "No calculation that adds up to the fee is recorded.",
  flows: "Deposits and withdrawals since the fee before are no longer kept, or cannot be read at the moment.",
  debt_parts: "A debt comes from more payments than are shown.",
});
