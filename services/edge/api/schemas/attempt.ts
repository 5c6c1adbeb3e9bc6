import { Type, type Static } from "typebox";
import { type Attempt, AttemptState } from "#proto/pamm/platform/v1/platform.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { bool, model, nullableInteger, nullableString, setOf, string } from "../../fields/field.ts";
import { KIND_NAMES, legKind } from "./operation.ts";
import { moneyReply, nullableTimeReply, ticketReply, timeReply } from "./reply-fields.ts";

const attemptState = setOf("AttemptState", "What is known about one send of a movement.", {
  sending: "It is being sent, or its answer is awaited.",
  unknown: "Its answer was lost or unclear; the history decides.",
  applied: "The trading platform executed it.",
  refused: "The trading platform refused it.",
  absent: "It is proven by the history that it was not executed.",
  not_sent: "Not one byte of it was written.",
});
type StateName = (typeof attemptState.values)[number];

const STATE_OF: Readonly<Record<AttemptState, StateName>> = {
  [AttemptState.UNSPECIFIED]: "unknown",
  [AttemptState.SENDING]: "sending",
  [AttemptState.UNKNOWN]: "unknown",
  [AttemptState.APPLIED]: "applied",
  [AttemptState.REFUSED]: "refused",
  [AttemptState.ABSENT]: "absent",
  [AttemptState.VOID]: "not_sent",
};

const AttemptReply = model("Attempt", "One send of a movement to the trading platform.", {
  mt5_transfer_id: ticketReply("Id of the transfer; its movements and their attempts have the same.", 4711),
  login: string({ description: "Account whose balance was to be changed.", example: "3000003" }),
  kind: legKind.known("Kind of the movement.", "deposit"),
  amount: moneyReply("Signed change of the balance that was written."),
  number: Type.Integer({ description: "1 for the first attempt of the movement.", examples: [1] }),
  reference: string({ description: "Token at the beginning of the comment.", example: "PD0F7K3M9Q2X1A" }),
  comment: string({ description: "Comment as it was written.", example: "PD0F7K3M9Q2X1A CRM-2026-0001" }),
  state: attemptState.of("What is known about it.", "applied"),
  permitted_at: timeReply("When its permit was recorded, before the first byte."),
  permit_expires_at: timeReply("Nothing of it is written after this."),
  ended_at: nullableTimeReply(
    "When what came back was recorded, or that no byte of it can be sent any more; null until then.",
  ),
  answer_code: nullableInteger({
    description:
      "Return code of the trading platform, 0 for success, or the HTTP status of an answer without one; null without an answer.",
    example: 0,
  }),
  answer: nullableString({
    description:
      "Why what came back proves nothing, or why nothing was written, as a word such as `connection_lost`; null when the return code says it.",
    example: null,
  }),
  deal_id: nullableInteger({ description: "Ticket of its deal; null unless it is applied.", example: 1_234_567 }),
  searches: Type.Integer({
    description: "How often the whole history of the account was read without its deal.",
    examples: [0],
  }),
  searched_at: nullableTimeReply("When the last of these readings began; null without one."),
});

export const AttemptList = model("AttemptList", "What was written to the trading platform for an operation.", {
  items: Type.Array(AttemptReply, { description: "Oldest first, at most 1,000." }),
  is_complete: bool({
    description: "false: fees or mirrors of the operation cannot be read now, so their attempts are missing.",
    example: true,
  }),
});

export function attemptItem(attempt: Attempt): Static<typeof AttemptReply> {
  const { answerCode, dealId, amount } = attempt;
  return {
    mt5_transfer_id: attempt.transferId,
    login: attempt.login,
    kind: KIND_NAMES[attempt.kind] ?? "",
    amount: moneyNumber(amount),
    number: attempt.number,
    reference: attempt.reference,
    comment: attempt.comment,
    state: STATE_OF[attempt.state],
    permitted_at: timestamp(attempt.grantedAt),
    permit_expires_at: timestamp(attempt.permitExpiresAt),
    ended_at: nullableTimestamp(attempt.endedAt),
    answer_code: answerCode === undefined ? null : jsonInteger(BigInt(answerCode)),
    answer: attempt.answer === "" ? null : attempt.answer,
    deal_id: dealId === 0n ? null : jsonInteger(dealId),
    searches: attempt.searches,
    searched_at: nullableTimestamp(attempt.searchedAt),
  };
}
