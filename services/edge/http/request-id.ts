import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import { NO_SPAN, receivedPlace, type Span, startSpan } from "#kernel/tracing/span.ts";

const VALID_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id that the caller sent, if it has a valid form. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && VALID_ID.test(sent) ? sent : uuidv7();
}

/** Begins a trace, or continues that of the caller: its `tracestate` may contain anything and is not passed on. */
export function spanOf(request: FastifyRequest): Span {
  const route = request.routeOptions.config.route;
  if (route === undefined) return NO_SPAN;
  const header = (name: string) => (name === "traceparent" ? textOf(request.headers[name]) : undefined);
  return startSpan(`${route.method} ${route.url}`, {
    kind: "server",
    parent: receivedPlace(header),
    mayBegin: true,
    attributes: { "http.request.method": route.method, "http.route": route.url, "pamm.request_id": request.id },
  });
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
