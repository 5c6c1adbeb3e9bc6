import { type Envelope, readEnvelope } from "./codec.ts";
import type { Exchanged, LossReason, NotSentReason } from "./http/exchanged.ts";
import { isJsonObject, type JsonValue, valuesNamed } from "./http/json.ts";
import { MONEY_RETCODES, type RetcodeTable } from "./retcodes.ts";

export type UnknownReason =
  | LossReason
  | "http_status"
  | "unparsable"
  | "contradictory"
  | "ambiguous_code"
  /** A ticket was told, and nothing is shown under it. */
  | "not_shown"
  /** A refusal, and the history shows what it refuses. */
  | "unconfirmed"
  | "no_ticket";

type Undecided =
  /** Surely not executed, and never will be: not one byte of it was written. */
  | { readonly kind: "not_sent"; readonly reason: NotSentReason }
  /** It may have been executed. `code` is the return code or HTTP status, for people. */
  | { readonly kind: "unknown"; readonly reason: UnknownReason; readonly code?: number };

/** What is known about a command that changes something. */
export type CommandOutcome =
  | { readonly kind: "done"; readonly envelope: Envelope }
  | { readonly kind: "refused"; readonly code: number; readonly envelope: Envelope }
  | Undecided;
/** What is known about a command that moves money. */
export type MoneyOutcome =
  | { readonly kind: "applied"; readonly ticket: bigint }
  | { readonly kind: "refused"; readonly code: number }
  | Undecided;

/** Tickets are int64 for everybody behind us; the platform's are far below. */
const MAX_TICKET = 2n ** 63n - 1n;
const INTEGER = /^(?:0|[1-9]\d{0,18})$/;

/** Decides by what was written and by what came back, and by nothing else. Never throws. */
export function classifyCommand(exchanged: Exchanged, table: RetcodeTable): CommandOutcome {
  if (exchanged.kind === "not_sent") return exchanged;
  if (exchanged.kind === "lost") return { kind: "unknown", reason: exchanged.reason };
  const { status, body } = exchanged.answer;
  if (status !== 200) return { kind: "unknown", reason: "http_status", code: status };
  const read = readEnvelope(body);
  if (read.kind !== "read") return { kind: "unknown", reason: read.kind };
  const { envelope } = read;
  const { code } = envelope;
  // Another code further in says that there is more to know than the first one tells.
  const [said, ...others] = valuesNamed(envelope.members, "retcode");
  if (others.some((other) => other !== said)) return { kind: "unknown", reason: "contradictory", code };
  if (table.applied.has(code)) return { kind: "done", envelope };
  return table.refused.has(code)
    ? { kind: "refused", code, envelope }
    : { kind: "unknown", reason: "ambiguous_code", code };
}

/** As above, with the ticket that makes a deal of it; a refusal that names a ticket contradicts itself. */
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

/** The one ticket of an answer, in its documented place. Zero is none. */
function ticketOf({ answer, members }: Envelope): bigint | "contradictory" | undefined {
  const named = valuesNamed(members, "ticket");
  const [ticket] = named;
  if (ticket === undefined || (named.length === 1 && ticket === "0")) return undefined;
  const isInPlace = isJsonObject(answer) && (answer.get("ticket") ?? []).length === named.length;
  if (!isInPlace || named.some((value) => value !== ticket)) return "contradictory";
  return readTicket(ticket) ?? "contradictory";
}

function readTicket(value: JsonValue): bigint | undefined {
  if (typeof value !== "string" || !INTEGER.test(value)) return undefined;
  const ticket = BigInt(value);
  return ticket > 0n && ticket <= MAX_TICKET ? ticket : undefined;
}
