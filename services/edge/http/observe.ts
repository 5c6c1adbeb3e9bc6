import type { FastifyRequest } from "fastify";
import { Counter, Histogram } from "prom-client";
import type { Log } from "#kernel/log.ts";
import { routeOf } from "./request-state.ts";
import type { RouteClass } from "./route.ts";
import { waitMs } from "./route-context.ts";

const NO_ROUTE = "(none)";
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

const seconds = new Histogram({
  name: "pamm_http_request_duration_seconds",
  help: "Time to answer an HTTP request, by class, route, method and status.",
  labelNames: ["class", "route", "method", "status"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

const problems = new Counter({
  name: "pamm_http_problems_total",
  help: "Problem bodies answered, by route and code.",
  labelNames: ["route", "code"],
});

/**
 * That of the route, which determines the time limit and what callers expect; `wait` when the caller has asked to wait, because the
 * time is then its own choice; `none` for what is not part of the documented interface.
 */
function classOf(request: FastifyRequest): RouteClass | "wait" | "none" {
  const route = routeOf(request);
  if (route === undefined) return "none";
  return waitMs(route, request) > 0 ? "wait" : route.class;
}

/** One line and one measurement for each request. The pattern of the route is written, never the path or the query. */
export function observeHttp(log: Log, request: FastifyRequest, status: number, elapsedMs: number): void {
  const { caller, operationId, code, span } = request.edge;
  const route = request.is404 ? NO_ROUTE : (request.routeOptions.url ?? NO_ROUTE);
  seconds.observe({ class: classOf(request), route, method: request.method, status }, elapsedMs / 1_000);
  if (code !== undefined) problems.inc({ route, code });
  span.set({ "http.response.status_code": status, "pamm.operation_id": operationId ?? "" });
  span.end(code ?? "ok", status >= 500);
  // Probes arrive every few seconds and would fill the log.
  const write = PROBES.has(route) ? log.debug : log.info;
  write("request", {
    request_id: request.id,
    trace_id: span.traceId,
    operation_id: operationId,
    method: request.method,
    route,
    status,
    code,
    duration_ms: Math.round(elapsedMs * 10) / 10,
    client: caller?.client,
    key: caller?.keyId,
    address: request.ip,
  });
}
