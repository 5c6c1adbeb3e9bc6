import { childContext } from "#kernel/contract/context.ts";
import { AttemptState } from "#proto/pamm/platform/v1/platform.ts";
import {
  bool,
  list,
  model,
  named,
  nullableId,
  nullableInteger,
  nullableString,
  setOf,
  smallInteger,
  string,
} from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import { moneyReply, nullableTimeReply, ticketReply, timeReply } from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { legKind, legKindOf } from "../schemas/operation.ts";
import { operationId } from "../schemas/request-fields.ts";
import { keysOf, READ_MOVEMENTS_MS, readMovements } from "./movements.ts";
import { findOperation, READERS } from "./operations.ts";

const attemptState = setOf("AttemptState", "What is known about one send of a movement.", {
  sending: "It is being sent, or its answer is awaited.",
  unknown: "Its answer was lost or unclear; the history decides.",
  applied: "The trading platform executed it.",
  refused: "The trading platform refused it.",
  absent: "It is proven by the history that it was not executed.",
  not_sent: "Not one byte of it was written.",
});

const STATES: Readonly<Record<AttemptState, (typeof attemptState.values)[number]>> = {
  [AttemptState.UNSPECIFIED]: "unknown",
  [AttemptState.SENDING]: "sending",
  [AttemptState.UNKNOWN]: "unknown",
  [AttemptState.APPLIED]: "applied",
  [AttemptState.REFUSED]: "refused",
  [AttemptState.ABSENT]: "absent",
  [AttemptState.VOID]: "not_sent",
};

const AttemptReply = model("Attempt", "One send of a movement to the trading platform.", {
  mt5_transfer_id: at(
    "transferId",
    ticketReply("Id of the transfer; its movements and their attempts have the same.", 4711),
  ),
  login: string({ description: "Account whose balance was to be changed.", example: "3000003" }),
  kind: shown(legKind.known("Kind of the movement.", "deposit"), legKindOf),
  amount: moneyReply("Signed change of the balance that was written."),
  number: smallInteger({ description: "1 for the first attempt of the movement.", example: 1 }),
  reference: string({ description: "Token at the beginning of the comment.", example: "PD0F7K3M9Q2X1A" }),
  comment: string({ description: "Comment as it was written.", example: "PD0F7K3M9Q2X1A CRM-2026-0001" }),
  state: named(attemptState.of("What is known about it.", "applied"), STATES),
  permitted_at: at("grantedAt", timeReply("When its permit was recorded, before the first byte.")),
  permit_expires_at: timeReply("Nothing of it is written after this."),
  ended_at: nullableTimeReply(
    "When what came back was recorded, or that no byte of it can still be sent; null until then.",
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
  deal_id: nullableId({ description: "Ticket of its deal; null unless it is applied.", example: 1_234_567 }),
  searches: smallInteger({
    description: "How often the whole history of the account was read without its deal.",
    example: 0,
  }),
  searched_at: nullableTimeReply("When the last of these readings began; null without one."),
});

const AttemptList = model("AttemptList", "What was written to the trading platform for an operation.", {
  items: list(AttemptReply, { description: "Oldest first, at most 1,000." }),
  is_complete: bool({
    description: "false: fees or mirrors of the operation cannot be read now, so their attempts are missing.",
    example: true,
  }),
});

export const listAttempts = route("GET /api/v1/operations/:operation_id/attempts", {
  ...READERS,
  summary: "List the attempts of an operation",
  description:
    "What was written to the trading platform for an operation, and what came back: each send of each movement, oldest first. A movement is sent again only when it is proven that the send before it was not executed. Attempts of movements that have ended are kept for 180 days, unless the operator keeps them longer. A movement that was never sent has none.",
  returns: "The attempts of the operation.",
  params: { operation_id: operationId },
  reply: AttemptList,
  refusals: ["operation_not_found", "operation_removed"],

  async call(deps, { operationId: id }, context) {
    const operation = await findOperation(deps, id, context);
    const within = childContext(context, { withinMs: READ_MOVEMENTS_MS });
    const { found, unreachable } = await readMovements(deps, [operation], within);
    const keys = keysOf(found);
    const { attempts } = keys.length === 0 ? { attempts: [] } : await deps.platform.readAttempts({ keys }, context);
    return { items: attempts, isComplete: unreachable.length === 0 };
  },
});
