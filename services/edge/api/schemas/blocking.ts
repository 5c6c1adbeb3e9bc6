import type { TUnsafe } from "typebox";
import type { Error as Refusal } from "#proto/pamm/common/v1/error.ts";
import { bool, integer, list, model, string } from "../../fields/field.ts";
import { at, optional, shown } from "../../fields/message.ts";
import { decimalReply, ticketReply } from "../../fields/reply-fields.ts";
import { PROBLEMS } from "../../problems/problems.ts";
import { problemCode, problemCodeOf } from "./problem-sets.ts";

type Details = Refusal["details"];

/** A fact that belongs to some codes, and is left out of the others. */
function fact<Json>(name: string, field: TUnsafe<Json>, parse: (text: string) => Json) {
  const show = ({ [name]: text }: Details): Json | undefined => (text === undefined ? undefined : parse(text));
  return optional(at("details", shown(field, show)));
}

const BlockingReason = model("BlockingReason", "One reason for which a command would be refused now.", {
  code: shown(problemCode.known("Problem code of the command.", "master_open_positions"), (code: string): string =>
    problemCodeOf(code),
  ),
  detail: at(
    "message",
    string({
      description: "One sentence about this case.",
      example: "The Master has open positions: 2. Retry when they are closed.",
    }),
  ),
  retryable: at(
    "code",
    shown(
      bool({ description: "The same request may succeed a little later.", example: false }),
      (code: string) => PROBLEMS[problemCodeOf(code)].retry !== undefined,
    ),
  ),
  operation_id: optional(
    shown(
      string({
        description: "Operation that blocks the request.",
        example: "0198c0de-0000-7000-8000-000000000001",
        shown: { format: "uuid" },
      }),
      (id: string) => (id === "" ? undefined : id),
    ),
  ),
  open_positions: fact("open_positions", integer({ description: "Number of open positions.", example: 2 }), BigInt),
  required: fact("required", decimalReply("Minimum deposit of the Master in USD."), String),
  actual: fact("actual", decimalReply("Balance in USD."), String),
  deficit: fact("deficit", decimalReply("What the Investor's share of the pool lacks, in USD."), String),
  state: fact(
    "state",
    string({ description: "State of a Master that is not open.", example: "not_accepting" }),
    String,
  ),
  deal_id: fact("deal_id", ticketReply("Ticket of the operation that was executed."), BigInt),
  reason: fact(
    "reason",
    string({
      description: "Why an account is busy: `outcome_unknown` while the outcome of an operation is being determined.",
      example: "outcome_unknown",
    }),
    String,
  ),
});

/** The members with which every preview begins. Decided by the service that decides the command. */
export const blockingFields = {
  allowed: at(
    "refusals",
    shown(
      bool({ description: "Whether the command would be carried out if it were sent now.", example: true }),
      (refusals: readonly Refusal[]) => refusals.length === 0,
    ),
  ),
  blocking: at(
    "refusals",
    list(BlockingReason, {
      description:
        "Everything for which it would be refused; the command answers the first one. Empty when it is allowed.",
    }),
  ),
};
