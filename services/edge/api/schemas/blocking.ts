import { Type, type Static } from "typebox";
import { refusalFromProto } from "#kernel/contract/error.ts";
import type { Error as ErrorMessage } from "#proto/pamm/common/v1/error.ts";
import { isProblemCode, problemKind, type ProblemCode } from "../../problems/problems.ts";
import { bool, integer, model, string } from "../../fields/field.ts";
import { problemCode } from "./problem-sets.ts";
import { decimalReply, ticketReply } from "./reply-fields.ts";

const BlockingReason = model("BlockingReason", "One reason for which a command would be refused now.", {
  code: problemCode.known("Problem code of the command.", "master_open_positions"),
  detail: string({
    description: "One sentence about this case.",
    example: "The Master has open positions: 2. Retry when they are closed.",
  }),
  retryable: bool({ description: "The same request may succeed a little later.", example: false }),
  operation_id: Type.Optional(
    string({
      description: "Operation that blocks the request.",
      example: "0198c0de-0000-7000-8000-000000000001",
      shown: { format: "uuid" },
    }),
  ),
  open_positions: Type.Optional(integer({ description: "Number of open positions.", example: 2 })),
  required: Type.Optional(decimalReply("Minimum deposit of the Master in USD.")),
  actual: Type.Optional(decimalReply("Balance in USD.")),
  deficit: Type.Optional(decimalReply("What the Investor's share of the pool lacks, in USD.")),
  state: Type.Optional(string({ description: "State of a Master that is not open.", example: "not_accepting" })),
  deal_id: Type.Optional(ticketReply("Ticket of the operation that was executed.")),
  reason: Type.Optional(
    string({
      description: "Why an account is busy: `outcome_unknown` while the outcome of an operation is being determined.",
      example: "outcome_unknown",
    }),
  ),
});

/** The members with which every preview begins. */
export const blockingFields = {
  allowed: bool({ description: "Whether the command would be carried out if it were sent now.", example: true }),
  blocking: Type.Array(BlockingReason, {
    description:
      "Everything for which it would be refused; the command answers the first one. Empty when it is allowed.",
  }),
};

/** Decided by the service that decides the command. */
export function blockingReply(refusals: readonly ErrorMessage[]) {
  return { allowed: refusals.length === 0, blocking: refusals.map(reasonOf) };
}

function reasonOf(message: ErrorMessage): Static<typeof BlockingReason> {
  const { code, message: detail, details, operationId } = refusalFromProto(message);
  // Internal codes are not part of the interface.
  const known: ProblemCode = isProblemCode(code) ? code : "conflict";
  const { open_positions, deal_id, required, actual, deficit, state, reason } = details;
  return {
    code: known,
    detail,
    retryable: problemKind(known).retryable ?? false,
    ...(operationId === undefined ? {} : { operation_id: operationId }),
    ...(open_positions === undefined ? {} : { open_positions: BigInt(open_positions) }),
    ...(required === undefined ? {} : { required }),
    ...(actual === undefined ? {} : { actual }),
    ...(deficit === undefined ? {} : { deficit }),
    ...(state === undefined ? {} : { state }),
    ...(deal_id === undefined ? {} : { deal_id: BigInt(deal_id) }),
    ...(reason === undefined ? {} : { reason }),
  };
}
