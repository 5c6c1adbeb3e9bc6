import assert from "node:assert/strict";
import type { FastifyReply, FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/process/log.ts";
import { NO_SPAN, receivedPlace, type Span, startSpan } from "#kernel/tracing/span.ts";
import { messageOf } from "../fields/message.ts";
import { type Audit, type AuditEntry, REFUSED, VOTE, writeDurably } from "../identity/audit/audit.ts";
import type { Caller } from "../identity/keys/caller.ts";
import type { RequestFacts } from "../problems/problem.ts";
import { idempotencyKeyOf, sentKeyOf } from "./idempotency/idempotency-key.ts";
import type { IdempotencyStore } from "./idempotency/idempotency-store.ts";
import type { LongPoll, Poll } from "./long-poll.ts";
import { type Deps, isCommand, type Route, type RouteContext } from "./route.ts";
import { deadlineOf, waitMs } from "./time-limit.ts";

/** What the hooks record about a request. */
export type RequestState = {
  readonly receivedAt: number;
  readonly span: Span;
  /** Of a command, created before anything else. */
  operationId?: string;
  caller?: Caller;
  /** A service may have acted on it. */
  wasSent: boolean;
  /** Code of the problem in the response. */
  code?: string;
  /** It was measured, logged and audited. */
  isFinished: boolean;
};

declare module "fastify" {
  interface FastifyRequest {
    edge: RequestState;
  }
  interface FastifyContextConfig {
    /** Missing on what is not part of the documented interface. */
    readonly route?: Route;
  }
}

const VALID_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id that the caller sent, if it has a valid form. */
export function requestIdOf({ headers }: Pick<FastifyRequest, "headers">): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && VALID_ID.test(sent) ? sent : uuidv7();
}

export function beginRequest(request: FastifyRequest): RequestState {
  return { receivedAt: Date.now(), span: spanOf(request), wasSent: false, isFinished: false };
}

/** Begins a trace, or continues that of the caller: its `tracestate` may contain anything and is not passed on. */
function spanOf(request: FastifyRequest): Span {
  const route = routeOf(request);
  if (route === undefined) return NO_SPAN;
  const { traceparent } = request.headers;
  return startSpan(`${route.method} ${route.url}`, {
    kind: "server",
    parent: receivedPlace((name) => (name === "traceparent" ? traceparent?.toString() : undefined)),
    mayBegin: true,
    attributes: { "http.request.method": route.method, "http.route": route.url, "pamm.request_id": request.id },
  });
}

export function routeOf(request: FastifyRequest): Route | undefined {
  return request.routeOptions.config.route;
}

export function callerOf({ edge: { caller } }: FastifyRequest): Caller {
  assert(caller !== undefined, "a request is handled after it was admitted");
  return caller;
}

export function factsOf(request: FastifyRequest): RequestFacts {
  const route = routeOf(request);
  const { operationId, wasSent } = request.edge;
  return {
    requestId: request.id,
    path: pathOf(request),
    intent: route !== undefined && isCommand(route) ? "command" : "query",
    operationId,
    wasSent,
    lookUp: route?.lookUp,
    mayHaveComeBefore: !wasSent && idempotencyKeyOf(request) !== undefined,
  };
}

/** No route has a longer one. */
const MAX_PATH_LENGTH = 512;

/** Without the query: problem bodies repeat it. */
export function pathOf({ raw: { url = "/" } }: FastifyRequest): string {
  return (url.split("?")[0] ?? "/").slice(0, MAX_PATH_LENGTH);
}

/** For the audit. A request that ended before its key was checked, for example for its length, was not allowed either. */
export function auditEntry(request: FastifyRequest, status: number): AuditEntry {
  const { caller, operationId, code } = request.edge;
  return {
    at: new Date(),
    requestId: request.id,
    keyId: caller?.keyId ?? null,
    client: caller?.client ?? null,
    address: request.ip,
    method: request.method,
    route: request.routeOptions.url ?? "",
    operationId: operationId ?? null,
    decision: caller === undefined || REFUSED.has(status) ? "denied" : "allowed",
    status,
    code: code ?? null,
  };
}

export type Runtime = {
  readonly deps: Deps;
  readonly audit: Audit;
  readonly idempotency: IdempotencyStore;
  readonly longPoll: LongPoll;
  readonly log: Log;
};

/** A checked request of a route. */
export type Work<R extends Route = Route> = {
  readonly route: R;
  readonly runtime: Runtime;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

const PARTS = ["params", "query", "body"] as const;

export function inputOf(route: Route, { params, query, body }: FastifyRequest) {
  const parts = { params, query, body } as Readonly<Record<(typeof PARTS)[number], object>>;
  const input = {
    ...parts,
    get request() {
      const messages = PARTS.map((part) => messageOf(route[part]?.properties ?? {}, parts[part]));
      return Object.assign({}, ...messages) as object;
    },
  };
  // The schemas have validated these types.
  return input as { params: never; query: never; body: never; request: never };
}

/** The clients of the services end each call at its deadline by themselves, and a caller that leaves cancels nothing. */
const NEVER_ABORTED = new AbortController().signal;

/** Of a call that has the time of the route, counted from `since`. */
export function contextOf(route: Route, { id, edge }: FastifyRequest, since = Date.now()): CallContext {
  const deadline = deadlineOf(route.class, since);
  return { requestId: id, commandId: edge.operationId ?? "", caller: "edge", deadline, signal: NEVER_ABORTED };
}

export function routeContextOf({ route, runtime, request, reply }: Work): RouteContext {
  const { audit, idempotency } = runtime;
  const { keyId, clientId, client, rejectsDuplicates, ...key } = callerOf(request);
  return {
    ...contextOf(route, request, request.edge.receivedAt),
    client: { id: clientId, owner: client, keyId, rejectsDuplicates },
    key,
    idempotencyKey: isCommand(route) ? sentKeyOf(request, clientId, idempotency.keptMs) : undefined,
    // The entry of a vote names the review as its operation, and the action as its code: the service has not answered yet.
    auditVote: ({ reviewId, action }) =>
      writeDurably(audit, { ...auditEntry(request, 202), method: VOTE, operationId: reviewId, code: action }),
    reportOperation(operationId) {
      if (operationId === request.edge.operationId) return;
      request.edge.operationId = operationId;
      reply.header("x-operation-id", operationId).header("idempotency-replayed", "true");
    },
    setHeader: (name, value) => void reply.header(name, value),
    poll: pollOf({ route, runtime, request, reply }),
  };
}

export function pollOf({ route, runtime, request, reply }: Work): Poll {
  return runtime.longPoll.open({
    clientId: callerOf(request).clientId,
    seconds: waitMs(route, request) / 1_000,
    receivedAt: request.edge.receivedAt,
    hasLeft: () => reply.raw.destroyed,
    contextOfRead: () => contextOf(route, request),
  });
}
