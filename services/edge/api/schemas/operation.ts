import {
  OperationAction,
  OperationOutcome,
  type Operation,
  type OperationLeg,
  QueueState,
} from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { Type, type Static } from "typebox";
import { isProblemCode } from "../../problems/problems.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { instantOfId } from "#kernel/uuid-time.ts";
import { usDollar } from "../../fields/currency.ts";
import { bool, model, nullableDecimal, nullableInteger, nullableString, setOf, string } from "../../fields/field.ts";
import { metadataReply } from "./labels.ts";
import { problemCode } from "./problem-sets.ts";
import { investorLoginReply, moneyReply, nullableTimeReply, timeReply } from "./reply-fields.ts";

export const operationOutcome = setOf("OperationOutcome", "What became of an operation or of one of its legs.", {
  pending: "It is in progress.",
  executed: "It was executed.",
  not_executed: "It was not executed, and will not be.",
  unknown: "It is not known yet whether it was executed; the search goes on.",
  review: "Manual review decides.",
});
export type OutcomeName = (typeof operationOutcome.values)[number];

export const outcomeField = operationOutcome.of("Outcome of the operation.", "executed");

export const operationAction = setOf("OperationAction", "Action of an operation.", {
  deposit: "Money was to be credited to an Investor.",
  withdraw: "Money was to be paid out to an Investor.",
  assign: "An Investor was to follow a Master.",
  unassign: "An Investor was to leave a Master.",
});

export const queueState = setOf("QueueState", "Where an operation is that was to wait until its Master is flat.", {
  waiting: "It waits, and can be cancelled.",
  running: "It is being executed.",
  ended: "It has an outcome.",
});
export type QueueStateName = (typeof queueState.values)[number];

const QUEUE_STATE_OF: Readonly<Record<QueueState, QueueStateName | null>> = {
  [QueueState.UNSPECIFIED]: null,
  [QueueState.WAITING]: "waiting",
  [QueueState.RUNNING]: "running",
  [QueueState.ENDED]: "ended",
};

export function queueStateNamed(name: "waiting" | "running"): QueueState {
  return name === "waiting" ? QueueState.WAITING : QueueState.RUNNING;
}

export type ActionName = (typeof operationAction.values)[number];

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

/** Other movements are no part of an operation. */
export const KIND_NAMES: Partial<Readonly<Record<MovementKind, LegKindName>>> = {
  [MovementKind.DEPOSIT]: "deposit",
  [MovementKind.WITHDRAWAL]: "withdrawal",
  [MovementKind.FEE_DEBIT]: "fee_debit",
  [MovementKind.FEE_CREDIT]: "fee_credit",
  [MovementKind.MIRROR]: "mirror",
  [MovementKind.EXIT]: "exit",
  [MovementKind.REVERSAL]: "reversal",
};

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
  outcome: operationOutcome.of("Outcome of this leg.", "executed"),
  deal_id: dealIdReply,
  reference: referenceReply,
  applied_at: nullableTimeReply("When the trading platform executed it; null until then."),
  waits_for: legWait.orNull("What it waits for besides its turn; null when nothing.", null),
});

export const OperationReply = model("Operation", "A deposit, withdrawal, assign or unassign, and what became of it.", {
  id: string({
    description: "Id of the operation, as in X-Operation-Id.",
    example: "0198c0de-0000-7000-8000-000000000001",
    shown: { format: "uuid" },
  }),
  action: operationAction.of("Requested action.", "deposit"),
  login: investorLoginReply(),
  master_login: nullableString({
    description:
      "Trading login of the Master: of an assign or unassign, or the one that the Investor followed when a deposit or withdrawal was recorded; null without one.",
    example: "3000001",
  }),
  amount: nullableDecimal({ description: "Requested amount; null without one.", example: 250.5 }),
  currency: usDollar.orNull("Currency of the amount; null without an amount.", "USD"),
  comment: nullableString({ description: "Comment of the request; null without one.", example: "CRM-2026-0001" }),
  external_id: nullableString({ description: "Your own id of the operation; null without one.", example: "CRM-7001" }),
  metadata: metadataReply,
  outcome: outcomeField,
  refusal: problemCode.orNull("Problem code of a refused operation; null otherwise.", null),
  deal_id: dealIdReply,
  reference: referenceReply,
  legs: Type.Array(LegReply, {
    description:
      "Movements of the operation in their order, as far as they can be read now. A deposit into a pool ends with its part of the mirror on the Master, from when it is recorded until the mirror ends by retention (180 days); the deal of the mirror may move more than this part.",
  }),
  queue_state: queueState.orNull(
    "Whether it waits until its Master is flat (`on_blocked=queue`); null when it has never waited.",
    null,
  ),
  expires_at: nullableTimeReply("It begins by then, or not at all; null when it has never waited."),
  imported: bool({
    description:
      "Its record was lost with a restore of the database and made anew from the deal: the comment is what the trading platform kept of it.",
    example: false,
  }),
  requested_at: timeReply("When it was requested for the first time; operations are listed by it."),
  created_at: timeReply("When the operation was recorded."),
  finished_at: nullableTimeReply("When the outcome was recorded; null until then, and for an assign that was refused."),
});

const ACTION_OF: Readonly<Record<OperationAction, Static<typeof OperationReply>["action"] | undefined>> = {
  [OperationAction.UNSPECIFIED]: undefined,
  [OperationAction.DEPOSIT]: "deposit",
  [OperationAction.WITHDRAW]: "withdraw",
  [OperationAction.ASSIGN]: "assign",
  [OperationAction.UNASSIGN]: "unassign",
};

const OUTCOME_OF: Readonly<Record<OperationOutcome, OutcomeName>> = {
  [OperationOutcome.UNSPECIFIED]: "unknown",
  [OperationOutcome.PENDING]: "pending",
  [OperationOutcome.EXECUTED]: "executed",
  [OperationOutcome.NOT_EXECUTED]: "not_executed",
  [OperationOutcome.UNKNOWN]: "unknown",
  [OperationOutcome.REVIEW]: "review",
};

export function actionNamed(name: ActionName): OperationAction {
  const { DEPOSIT, WITHDRAW, ASSIGN, UNASSIGN } = OperationAction;
  return { deposit: DEPOSIT, withdraw: WITHDRAW, assign: ASSIGN, unassign: UNASSIGN }[name];
}

export function outcomeNamed(name: OutcomeName | undefined): OperationOutcome {
  const { UNSPECIFIED, PENDING, EXECUTED, NOT_EXECUTED, UNKNOWN, REVIEW } = OperationOutcome;
  const named = { pending: PENDING, executed: EXECUTED, not_executed: NOT_EXECUTED, unknown: UNKNOWN, review: REVIEW };
  return name === undefined ? UNSPECIFIED : named[name];
}

/** The outcome does not change without a decision of an operator. */
export function isFinal({ outcome }: Pick<Operation, "outcome">): boolean {
  return outcome !== OperationOutcome.PENDING && outcome !== OperationOutcome.UNKNOWN;
}

export function operationReply(operation: Operation): Static<typeof OperationReply> {
  const { amount, comment, refusalCode } = operation;
  const action = ACTION_OF[operation.action];
  if (action === undefined) throw new TypeError("an operation without an action");
  return {
    id: operation.operationId,
    action,
    login: operation.login,
    master_login: operation.masterLogin ?? null,
    amount: amount === undefined ? null : moneyNumber(amount),
    currency: amount === undefined ? null : "USD",
    comment: amount === undefined ? null : comment,
    external_id: operation.labels?.externalId ?? null,
    metadata: operation.labels?.metadata ?? {},
    outcome: OUTCOME_OF[operation.outcome],
    // Internal codes are not part of the interface.
    refusal: refusalCode === "" ? null : isProblemCode(refusalCode) ? refusalCode : "conflict",
    deal_id: operation.dealId === undefined ? null : jsonInteger(operation.dealId),
    reference: textOrNull(operation.reference),
    legs: operation.legs.map(legReply),
    queue_state: QUEUE_STATE_OF[operation.queueState ?? QueueState.UNSPECIFIED],
    expires_at: nullableTimestamp(operation.queuedUntil),
    imported: operation.imported ?? false,
    requested_at: timestamp(instantOfId(operation.operationId) ?? operation.createdAt),
    created_at: timestamp(operation.createdAt),
    finished_at: nullableTimestamp(operation.finishedAt),
  };
}

function legReply(leg: OperationLeg): Static<typeof LegReply> {
  return {
    login: leg.login,
    kind: leg.kind,
    amount: moneyNumber(leg.amount),
    outcome: OUTCOME_OF[leg.outcome],
    deal_id: leg.dealId === undefined ? null : jsonInteger(leg.dealId),
    reference: textOrNull(leg.reference),
    applied_at: nullableTimestamp(leg.appliedAt),
    waits_for: textOrNull(leg.waitsFor),
  };
}

function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}
