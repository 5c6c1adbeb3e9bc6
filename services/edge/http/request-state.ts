import type { FastifyRequest } from "fastify";
import { NO_SPAN, type Span } from "#kernel/tracing/span.ts";
import type { Caller } from "../identity/keys/auth.ts";
import { idempotencyKeyOf } from "./idempotency/idempotency-key.ts";
import type { RequestFacts } from "../problems/problem.ts";
import type { Route } from "./route.ts";

/** What the hooks record about a request. */
export type RequestState = {
  readonly receivedAt: number;
  readonly span: Span;
  /** Created for commands before anything else. */
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

export function beginRequest(span = NO_SPAN): RequestState {
  return { receivedAt: Date.now(), span, wasSent: false, isFinished: false };
}

export function routeOf(request: FastifyRequest): Route | undefined {
  return request.routeOptions.config.route;
}

export function isCommand({ method, changesNothing }: Pick<Route, "method" | "changesNothing">): boolean {
  return method !== "GET" && changesNothing !== true;
}

export function factsOf(request: FastifyRequest): RequestFacts {
  const route = routeOf(request);
  const { operationId, wasSent } = request.edge;
  return {
    requestId: request.id,
    path: pathOf(request.raw.url ?? "/"),
    intent: route !== undefined && isCommand(route) ? "command" : "query",
    operationId,
    wasSent,
    lookUp: route?.lookUp,
    mayHaveComeBefore: !wasSent && idempotencyKeyOf(request) !== undefined,
  };
}

/** Problem bodies repeat the path. No route has a longer one. */
const MAX_PATH_LENGTH = 512;

/** Without the query. */
export function pathOf(url: string): string {
  return (url.split("?")[0] ?? "/").slice(0, MAX_PATH_LENGTH);
}
