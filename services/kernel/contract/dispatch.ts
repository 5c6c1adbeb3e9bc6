import type { Log } from "../process/log.ts";
import { countRefusedCall, observeRequest, type Transport } from "../process/metrics.ts";
import { Refusal } from "../values/refusal.ts";
import { isTransientFailure } from "../jobs/transient-failure.ts";
import { asBuffer } from "./client.ts";
import {
  type CallContext,
  type Contract,
  type Implementation,
  type Method,
  type Permissions,
  rpcAttributes,
  rpcName,
} from "./contract.ts";
import { type CallHeaders, readHeaders } from "./headers.ts";
import { receivedPlace, type Span, startSpan } from "../tracing/span.ts";
import { type Limit, limit } from "./limit.ts";
import type { ServiceName } from "#catalogue/services.ts";
import {
  busy,
  databaseUnavailable,
  deadlineExceeded,
  failureOf,
  malformedRequest,
  notPermitted,
  refuse,
} from "./refusals.ts";

export type Answer = Result & {
  /** Until when the caller waits for it; undefined when the headers of the call were refused. */
  readonly deadline: Date | undefined;
};
type Result = { readonly ok: true; readonly payload: Uint8Array } | { readonly ok: false; readonly refusal: Refusal };

export type IncomingCall = {
  readonly method: Method;
  readonly payload: Uint8Array;
  readonly header: (name: string) => string | undefined;
  /** The service that calls, as the transport proves; undefined when it cannot. */
  readonly caller: ServiceName | undefined;
  /** Of the transport, when the caller sent none in the headers. */
  readonly deadline?: Date | undefined;
  /** Calls back when the caller cancels. */
  readonly onCancelled?: (abort: () => void) => void;
};

export type DispatchOptions = {
  readonly transport: Transport;
  readonly implementation: Implementation<Contract>;
  readonly permissions: Permissions<Contract>;
  readonly log: Log;
  /** For commands and for queries each, so that neither blocks the other. */
  readonly maxConcurrent: number;
};

export type Dispatcher = {
  readonly dispatch: (call: IncomingCall) => Promise<Answer>;
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>;
};

/** For callers that send no deadline, for example an operator with a command line tool. */
const DEFAULT_DEADLINE_MS = 5_000;
/** With a longer delay a timer of Node.js fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What both transports do with a call: context, deadline, limit, decode, handle, encode, and turn errors into refusals. */
export function createDispatcher(options: DispatchOptions): Dispatcher {
  const limits = { command: limit(options.maxConcurrent), query: limit(options.maxConcurrent) };
  const inFlight = new Set<Promise<Answer>>();

  const answer = async (call: IncomingCall, span: Span): Promise<Answer> => {
    const startedAt = performance.now();
    let headers: CallHeaders | undefined;
    let outcome = "ok";
    let hasFailed = false;
    try {
      headers = readHeaders(call.header, call.deadline ?? new Date(Date.now() + DEFAULT_DEADLINE_MS));
      const caller = requirePermitted(options, call);
      headers = { ...headers, caller };
      const slots = headers.commandId === "" ? limits.query : limits.command;
      const payload = await handleWithin(slots, options, call, headers);
      return { ok: true, payload, deadline: headers.deadline };
    } catch (error) {
      const refusal = error instanceof Refusal ? error : fault(options.log, error, call.method, headers);
      ({ outcome, hasFailed } = failureOf(refusal));
      return { ok: false, refusal, deadline: headers?.deadline };
    } finally {
      const elapsedMs = performance.now() - startedAt;
      observeRequest({ transport: options.transport, method: call.method.path, outcome }, elapsedMs);
      logAnswer(options.log, call.method, { headers, outcome, elapsedMs });
      span.set({ "pamm.request_id": headers?.requestId ?? "", "pamm.operation_id": headers?.commandId ?? "" });
      span.end(outcome, hasFailed);
    }
  };

  return {
    dispatch(call) {
      const span = startServerSpan(options, call);
      const answered = span.run(() => answer(call, span)).finally(() => inFlight.delete(answered));
      inFlight.add(answered);
      return answered;
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

/** Part of the caller's trace; a call without one, such as those of jobs, begins none. */
function startServerSpan({ transport }: DispatchOptions, { method, header, caller }: IncomingCall): Span {
  const attributes = { ...rpcAttributes(method, transport), "pamm.caller": caller ?? "unknown" };
  return startSpan(rpcName(method), { kind: "server", parent: receivedPlace(header), attributes });
}

type Answered = {
  readonly headers: CallHeaders | undefined;
  readonly outcome: string;
  readonly elapsedMs: number;
};

/** One info line for each command. Queries are many, most of them of jobs; the edge has a line for each of a client. */
function logAnswer(log: Log, { path }: Method, { headers, outcome, elapsedMs }: Answered): void {
  const isCommand = headers !== undefined && headers.commandId !== "";
  const write = isCommand ? log.info : log.debug;
  write(isCommand ? "command answered" : "query answered", {
    request_id: headers?.requestId,
    // The edge names a command by the id of its operation.
    operation_id: isCommand ? headers.commandId : undefined,
    caller: headers?.caller,
    method: path,
    outcome,
    duration_ms: Math.round(elapsedMs * 10) / 10,
  });
}

/** Whatever the headers claim, the caller is the service that the transport proves. */
function requirePermitted({ permissions, log }: DispatchOptions, { caller, method }: IncomingCall): ServiceName {
  if (caller !== undefined && permissions[method.name]?.includes(caller) === true) return caller;
  countRefusedCall(method.path);
  log.warn("call refused, the caller may not use this method", { caller: caller ?? "unknown", method: method.path });
  throw notPermitted(method.rpc);
}

async function handleWithin(
  slots: Limit,
  { implementation }: DispatchOptions,
  { method, payload, onCancelled }: IncomingCall,
  headers: CallHeaders,
): Promise<Uint8Array> {
  const remaining = headers.deadline.getTime() - Date.now();
  if (remaining <= 0) throw deadlineExceeded();
  if (!slots.tryEnter()) throw busy();
  const cancellation = new AbortController();
  const timer = setTimeout(() => cancellation.abort(), Math.min(remaining, MAX_TIMER_MS));
  let isAnswered = false;
  // Some transports also report an answered call as cancelled.
  onCancelled?.(() => isAnswered || cancellation.abort());
  try {
    const handler = implementation[method.name] as (request: unknown, context: CallContext) => Promise<unknown>;
    return method.responseSerialize(
      await handler(decode(method, payload), { ...headers, signal: cancellation.signal }),
    );
  } finally {
    isAnswered = true;
    clearTimeout(timer);
    slots.leave();
  }
}

function decode(method: Method, payload: Uint8Array): unknown {
  let request: unknown;
  try {
    request = method.requestDeserialize(asBuffer(payload));
  } catch {
    throw malformedRequest(`The payload is not a request of ${method.rpc}.`);
  }
  if (isReadable(request)) return request;
  throw malformedRequest(`The request of ${method.rpc} contains a NUL character or an impossible instant.`);
}

/** Logs the error once, with its stack; the caller receives no detail of it. */
function fault(log: Log, error: unknown, method: Method, headers: CallHeaders | undefined): Refusal {
  const fields = {
    method: method.path,
    request_id: headers?.requestId,
    command_id: headers?.commandId,
    caller: headers?.caller,
    error,
  };
  const isUnavailable = isTransientFailure(error);
  if (isUnavailable) log.warn("request failed, the database did not answer", fields);
  else log.error("request failed with an unexpected error, report this defect", fields);
  const isCommand = headers !== undefined && headers.commandId !== "";
  // A query without a database has changed nothing and may be retried; the outcome of a command is unknown.
  if (!isCommand && isUnavailable) return databaseUnavailable();
  return refuse("internal", "Internal error.", isCommand ? { outcome: "unknown" } : {});
}

const FIRST_INSTANT = Date.parse("0001-01-01T00:00:00Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Whether a decoded message contains nothing that its format allows and PostgreSQL cannot store: a NUL character in a
 * text, or an instant that is invalid or outside of the years 1 to 9999.
 */
export function isReadable(message: unknown): boolean {
  if (typeof message === "string") return !message.includes("\0");
  if (message instanceof Date) return message.getTime() >= FIRST_INSTANT && message.getTime() <= LAST_INSTANT;
  if (typeof message !== "object" || message === null || ArrayBuffer.isView(message)) return true;
  return Object.values(message).every(isReadable);
}
