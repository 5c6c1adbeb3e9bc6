import { type Envelope, readEnvelope } from "./codec.ts";
import { MAX_INTEGER } from "./fields.ts";
import type { Exchanged, LossReason, NotSentReason } from "./http/http-answer.ts";
import { isJsonObject, type JsonValue, valuesNamed } from "./http/json.ts";
import { MONEY_RETCODES, type RetcodeTable } from "./retcodes.ts";

export type UnknownReason =
  | LossReason
  | "http_status"
  | "unparsable"
  | "contradictory"
  | "ambiguous_code"
  /** A ticket was answered, and the platform shows no deal under it. */
  | "not_shown"
  /** A refusal was answered, and the history shows a deal of the command or cannot be read. */
  | "unconfirmed"
  | "no_ticket";

type Undecided =
  /** Not executed, and never will be: not one byte of it was written. */
  | { readonly kind: "not_sent"; readonly reason: NotSentReason }
  /** It may have been executed. `code` is the return code or HTTP status, for operators. */
  | { readonly kind: "unknown"; readonly reason: UnknownReason; readonly code?: number };

/** What is known about a command that changes an account. */
export type CommandOutcome =
  | { readonly kind: "done"; readonly envelope: Envelope }
  | { readonly kind: "refused"; readonly code: number; readonly envelope: Envelope }
  | Undecided;
/** What is known about a command that moves money. */
export type MoneyOutcome =
  | { readonly kind: "applied"; readonly ticket: bigint }
  | { readonly kind: "refused"; readonly code: number }
  | Undecided;

const INTEGER = /^(?:0|[1-9]\d{0,18})$/;

/** Decides only by what was written and what was answered. Never throws. */
export function classifyCommand(exchanged: Exchanged, table: RetcodeTable): CommandOutcome {
  if (exchanged.kind === "not_sent") return exchanged;
  if (exchanged.kind === "lost") return { kind: "unknown", reason: exchanged.reason };
  const { status, body } = exchanged.answer;
  if (status !== 200) return { kind: "unknown", reason: "http_status", code: status };
  const read = readEnvelope(body);
  if (read.kind !== "read") return { kind: "unknown", reason: read.kind };
  const { envelope } = read;
  const { code } = envelope;
  // A nested result with another code contradicts the outer one.
  const [outer, ...others] = valuesNamed(envelope.members, "retcode");
  if (others.some((other) => other !== outer)) return { kind: "unknown", reason: "contradictory", code };
  if (table.applied.has(code)) return { kind: "done", envelope };
  return table.refused.has(code)
    ? { kind: "refused", code, envelope }
    : { kind: "unknown", reason: "ambiguous_code", code };
}

/** Like classifyCommand, but success needs the ticket of a deal, and a refusal with a ticket is contradictory. */
export function classifyCommandAnswer(exchanged: Exchanged): MoneyOutcome {
  const outcome = classifyCommand(exchanged, MONEY_RETCODES);
  if (outcome.kind !== "done" && outcome.kind !== "refused") return outcome;
  const ticket = ticketOf(outcome.envelope);
  if (ticket === "contradictory") return { kind: "unknown", reason: "contradictory" };
  if (outcome.kind === "done") {
    return ticket === undefined ? { kind: "unknown", reason: "no_ticket" } : { kind: "applied", ticket };
  }
  return ticket === undefined
    ? { kind: "refused", code: outcome.code }
    : { kind: "unknown", reason: "contradictory", code: outcome.code };
}

/** The only ticket of an answer, in its documented member. Zero means no ticket. */
function ticketOf({ answer, members }: Envelope): bigint | "contradictory" | undefined {
  const named = valuesNamed(members, "ticket");
  const [ticket] = named;
  if (ticket === undefined || (named.length === 1 && ticket === "0")) return undefined;
  const isDocumented = isJsonObject(answer) && (answer.get("ticket") ?? []).length === named.length;
  if (!isDocumented || named.some((value) => value !== ticket)) return "contradictory";
  return readTicket(ticket) ?? "contradictory";
}

function readTicket(value: JsonValue): bigint | undefined {
  if (typeof value !== "string" || !INTEGER.test(value)) return undefined;
  const ticket = BigInt(value);
  return ticket > 0n && ticket <= MAX_INTEGER ? ticket : undefined;
}
