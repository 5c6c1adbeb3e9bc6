import { instantOfId } from "#kernel/values/uuid-time.ts";
import { type Operation, OperationAction, OperationOutcome, QueueState } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  bool,
  byCode,
  codeOf,
  list,
  model,
  named,
  nullableInteger,
  nullableString,
  setOf,
  string,
} from "../../fields/field.ts";
import { at, ofWhole, shown } from "../../fields/message.ts";
import {
  investorLoginReply,
  moneyReply,
  nullableMoneyReply,
  nullableTimeReply,
  timeReply,
  usDollar,
} from "../../fields/reply-fields.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { externalIdReply, metadataReply } from "./labels.ts";
import { problemCode, problemCodeOf } from "./problem-sets.ts";

const operationOutcome = setOf("OperationOutcome", "What became of an operation or of one of its legs.", {
  pending: "It is in progress.",
  executed: "It was executed.",
  not_executed: "It was not executed, and will not be.",
  unknown: "It is not known yet whether it was executed; the search goes on.",
  review: "Manual review decides.",
});

const OUTCOMES = {
  ...byCode(operationOutcome.values, OperationOutcome),
  [OperationOutcome.UNSPECIFIED]: "unknown",
} as const;

export const outcomeNamed = codeOf(OUTCOMES);

export const outcomeField = operationOutcome.of("Outcome of the operation.", "executed");

export const operationAction = setOf("OperationAction", "Action of an operation.", {
  deposit: "Money was to be credited to an Investor.",
  withdraw: "Money was to be paid out to an Investor.",
  assign: "An Investor was to follow a Master.",
  unassign: "An Investor was to leave a Master.",
});

const ACTIONS = byCode(operationAction.values, OperationAction);

export const actionNamed = codeOf(ACTIONS);

const queueState = setOf("QueueState", "Where an operation is that was to wait until its Master is flat.", {
  waiting: "It waits, and can be cancelled.",
  running: "It is being executed.",
  ended: "It has an outcome.",
});

const QUEUE_STATES = byCode(queueState.values, QueueState);

export const queueStateNamed = codeOf(QUEUE_STATES);

export const legKind = setOf("LegKind", "Kind of a movement.", {
  deposit: "A deposit is credited to the Investor.",
  withdrawal: "A withdrawal is debited from the Investor.",
  fee_debit: "A performance fee is debited from the Investor.",
  fee_credit: "The same fee is credited to the payment account.",
  mirror: "Capital of the Investor is mirrored on the Master.",
  exit: "Mirrored capital leaves the Master after the Investor has left.",
  reversal: "An earlier movement is moved back.",
});
const legWait = setOf("LegWait", "What a leg waits for that is not executed yet.", {
  pool_deficit:
    "The pool of the Master is below zero: the money stays on the account of the Investor, who can withdraw it, and goes to the Master when the deficit is covered.",
  master_not_shown:
    "The broker has archived or deleted the account of the Master: the money stays on the account of the Investor, who can withdraw it, and goes to the Master when that is shown again.",
});

export type LegKindName = (typeof legKind.values)[number];

const KINDS = byCode(legKind.values, MovementKind);

/** Other movements are no part of an operation. */
export function legKindOf(kind: MovementKind): string {
  return KINDS[kind] ?? "";
}

const dealIdReply = nullableInteger({
  description: "Ticket on the trading platform; null without a deal.",
  example: 1_234_567,
});

const referenceReply = nullableString({
  description: "Token at the beginning of the deal's comment on the trading platform; null while it is unknown.",
  example: "PD0F7K3M9Q2X1A",
});

const LegReply = model("Leg", "One movement of an operation on one account.", {
  login: string({ description: "Account that the leg changes.", example: "3000003" }),
  kind: legKind.known("Kind of the movement.", "deposit"),
  amount: moneyReply("Signed change of the balance; of a mirror, the part that follows from the operation."),
  outcome: named(operationOutcome.of("Outcome of this leg.", "executed"), OUTCOMES),
  deal_id: dealIdReply,
  reference: referenceReply,
  applied_at: nullableTimeReply("When the trading platform executed it; null until then."),
  waits_for: legWait.orNull("What it waits for besides its turn; null when nothing.", null),
});

export const OperationReply = model("Operation", "A deposit, withdrawal, assign or unassign, and what became of it.", {
  id: at(
    "operationId",
    string({
      description: "Id of the operation, as in X-Operation-Id.",
      example: "0198c0de-0000-7000-8000-000000000001",
      shown: { format: "uuid" },
    }),
  ),
  action: named(operationAction.of("Requested action.", "deposit"), ACTIONS),
  login: investorLoginReply(),
  master_login: nullableString({
    description:
      "Trading login of the Master: of an assign or unassign, or the one that the Investor followed when a deposit or withdrawal was recorded; null without one.",
    example: "3000001",
  }),
  amount: nullableMoneyReply("Requested amount; null without one."),
  currency: at(
    "amount",
    shown(
      usDollar.orNull("Currency of the amount; null without an amount.", "USD"),
      (amount: Operation["amount"]) => amount?.currencyCode ?? null,
    ),
  ),
  comment: ofWhole(
    nullableString({ description: "Comment of the request; null without one.", example: "CRM-2026-0001" }),
    ({ amount, comment }: Pick<Operation, "amount" | "comment">) => (amount === undefined ? null : comment),
  ),
  external_id: externalIdReply("Your own id of the operation; null without one."),
  metadata: metadataReply,
  outcome: named(outcomeField, OUTCOMES),
  refusal: at(
    "refusalCode",
    shown(
      problemCode.orNull("Problem code of a refused operation; null otherwise.", null),
      (code: string): string | null => (code === "" ? null : problemCodeOf(code)),
    ),
  ),
  deal_id: dealIdReply,
  reference: referenceReply,
  legs: list(LegReply, {
    description:
      "Movements of the operation in their order, as far as they can be read now. A deposit into a pool ends with its part of the mirror on the Master, from when it is recorded until the mirror ends by retention (180 days); the deal of the mirror may move more than this part.",
  }),
  queue_state: shown(
    queueState.orNull(
      "Whether it waits until its Master is flat (`on_blocked=queue`); null when it has never waited.",
      null,
    ),
    (state: QueueState | undefined) => QUEUE_STATES[state ?? QueueState.UNSPECIFIED] ?? null,
  ),
  expires_at: at("queuedUntil", nullableTimeReply("It begins by then, or not at all; null when it has never waited.")),
  imported: shown(
    bool({
      description:
        "Its record was lost with a restore of the database and made anew from the deal: the comment is what the trading platform kept of it.",
      example: false,
    }),
    (imported: boolean | undefined) => imported ?? false,
  ),
  requested_at: ofWhole(
    timeReply("When it was requested for the first time; operations are listed by it."),
    ({ operationId, createdAt }: Pick<Operation, "operationId" | "createdAt">) =>
      timestamp(instantOfId(operationId) ?? createdAt),
  ),
  created_at: timeReply("When the operation was recorded."),
  finished_at: nullableTimeReply("When the outcome was recorded; null until then, and for an assign that was refused."),
});

/** The outcome does not change without a decision of an operator. */
export function isFinal({ outcome }: Pick<Operation, "outcome">): boolean {
  return outcome !== OperationOutcome.PENDING && outcome !== OperationOutcome.UNKNOWN;
}
