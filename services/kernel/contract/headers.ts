import type { CallContext } from "./contract.ts";
import { sendPlace } from "../tracing/span.ts";
import { malformedRequest } from "./refusals.ts";

/** Lower case, because gRPC metadata allows nothing else; NATS carries them unchanged. */
export const HEADER = {
  requestId: "pamm-request-id",
  commandId: "pamm-command-id",
  caller: "pamm-caller",
  /** Milliseconds since 1970: an instant stays right while the request waits in a queue, a duration does not. */
  deadline: "pamm-deadline",
  /** NATS: present when the payload is an Error. */
  error: "pamm-error",
  /** gRPC: the encoded Error. */
  errorBytes: "pamm-error-bin",
} as const;

export type CallHeaders = Omit<CallContext, "signal">;

/** Headers are written to the log. The longest, a request id of a client, has at most 128 characters. */
const MAX_HEADER_LENGTH = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** From the year 2001 on: a shorter number is no instant in milliseconds. */
const DEADLINE = /^\d{13,15}$/;
const PLAIN_TEXT = /^[\x20-\x7e]*$/;

export function writeHeaders(context: CallContext, caller: string, set: (name: string, value: string) => void): void {
  set(HEADER.requestId, context.requestId);
  if (context.commandId !== "") set(HEADER.commandId, context.commandId);
  set(HEADER.caller, caller);
  set(HEADER.deadline, String(context.deadline.getTime()));
  sendPlace(set);
}

/** Reads the headers of a call. The fallback deadline is for callers that send none, such as command line tools. */
export function readHeaders(get: (name: string) => string | undefined, fallbackDeadline: Date): CallHeaders {
  const text = (name: string): string => {
    const value = get(name) ?? "";
    if (value.length > MAX_HEADER_LENGTH || !PLAIN_TEXT.test(value)) {
      throw malformedRequest(`Header ${name} is malformed.`);
    }
    return value;
  };
  const commandId = text(HEADER.commandId);
  if (commandId !== "" && !UUID.test(commandId)) throw malformedRequest(`Header ${HEADER.commandId} is not a UUID.`);
  return {
    requestId: text(HEADER.requestId),
    commandId,
    caller: text(HEADER.caller),
    deadline: readDeadline(text(HEADER.deadline), fallbackDeadline),
  };
}

function readDeadline(text: string, fallback: Date): Date {
  if (text === "") return fallback;
  if (!DEADLINE.test(text)) throw malformedRequest(`Header ${HEADER.deadline} is malformed.`);
  return new Date(Number(text));
}
