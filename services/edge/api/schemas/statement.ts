import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { StatementLine } from "#proto/pamm/platform/v1/platform.ts";
import { model, named, nullableId, nullableString, setOf, string } from "../../fields/field.ts";
import { at, ofWhole, within } from "../../fields/message.ts";
import { operationOfKey } from "./operation-of-key.ts";
import { idReply, moneyReply, timeReply } from "../../fields/reply-fields.ts";

export const lineKind = setOf("StatementLineKind", "Why a balance changed.", {
  opening: "The balance of the account when this service began to manage it.",
  deposit: "A deposit.",
  withdrawal: "A withdrawal.",
  fee_debit: "A performance fee.",
  fee_credit: "A performance fee was credited.",
  result: "Allocated results of the Master; the list of allocations has each of them.",
  mirror: "Capital of Investors was mirrored.",
  exit: "Mirrored capital has left.",
  reversal: "An earlier movement was moved back.",
  external: "A movement that this service did not make, for example by a dealer.",
  trade: "A deal of a trader.",
  amendment: "The trading platform has amended or deleted a deal; manual review decides. Always 0.00.",
  correction: "By a decision of operators an amended deal counts as the trading platform shows it now.",
});
type LineKind = (typeof lineKind.values)[number];

const KINDS: Readonly<Partial<Record<MovementKind, LineKind>>> = {
  [MovementKind.OPENING]: "opening",
  [MovementKind.DEPOSIT]: "deposit",
  [MovementKind.WITHDRAWAL]: "withdrawal",
  [MovementKind.FEE_DEBIT]: "fee_debit",
  [MovementKind.FEE_CREDIT]: "fee_credit",
  [MovementKind.RESULT]: "result",
  [MovementKind.MIRROR]: "mirror",
  [MovementKind.EXIT]: "exit",
  [MovementKind.REVERSAL]: "reversal",
  [MovementKind.EXTERNAL]: "external",
  [MovementKind.TRADE]: "trade",
  [MovementKind.AMENDMENT]: "amendment",
  [MovementKind.CORRECTION]: "correction",
};

export const LineReply = model("StatementLine", "One movement of an account.", {
  ...within("entry", {
    number: idReply("Number of the movement in the journal of the account, without gaps.", 12),
  }),
  booked_at: at("loggedAt", timeReply("When it was booked: decides to which period it belongs.")),
  ...within("entry", {
    deal_at: timeReply("Time of the deal on the trading platform."),
    kind: named(lineKind.of("Why the balance changed.", "deposit"), KINDS),
    amount: moneyReply("Change of the balance; signed.", 250.5),
  }),
  balance: moneyReply("Balance after it.", 1250.5),
  ...within("entry", {
    deal_id: nullableId({ description: "Ticket of the deal; null for an opening.", example: 1_234_567 }),
    mt5_transfer_id: at(
      "transferId",
      nullableId({
        description:
          "Transfer id, the same as in the list of fee payments for a fee; null for a movement that this service did not make.",
        example: 77,
      }),
    ),
  }),
  operation_id: ofWhole(
    nullableString({
      description:
        "Operation that the movement belongs to, such as its deposit or withdrawal, also for a fee that a withdrawal collects; null for a weekly fee, a fee of an unassign, a result, and a movement that this service did not make.",
      example: "0198c0de-0000-7000-8000-000000000001",
    }),
    ({ entry, importedOperationId }: StatementLine) =>
      operationOfKey(entry?.key ?? "") ?? (importedOperationId === "" ? null : importedOperationId),
  ),
  comment: string({
    description: 'Comment of the deposit or withdrawal; `""` without one.',
    example: "CRM-1",
  }),
});
