import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, Histogram } from "prom-client";
import { systemClock } from "#kernel/values/clock.ts";
import type { Log } from "#kernel/process/log.ts";
import { type Audit, REFUSED, refusedRequests } from "../identity/audit/audit.ts";
import { auditEntry, routeOf } from "./request.ts";
import { isCommand, type Route, type RouteClass } from "./route.ts";
import { waitMs } from "./time-limit.ts";

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

/** Records each request once, when it was answered or its caller has left: measured, logged, and audited if it has to be. */
export function recordRequests(log: Log, audit: Audit) {
  const isRefusalRecorded = refusedRequests(systemClock);
  return (request: FastifyRequest, reply: FastifyReply, status: number): void => {
    if (request.edge.isFinished) return;
    request.edge.isFinished = true;
    observe(log, request, status, reply.elapsedTime);
    const route = routeOf(request);
    if (route === undefined || !isAudited(route, status)) return;
    if (!REFUSED.has(status) || isRefusalRecorded(request.ip)) audit.note(auditEntry(request, status));
  };
}

/** One line and one measurement. The pattern of the route is written, never the path or the query. */
function observe(log: Log, request: FastifyRequest, status: number, elapsedMs: number): void {
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

/**
 * That of the route, which determines the time limit and what callers expect; `wait` when the caller has asked to wait, because the
 * time is then its own choice; `none` for what is not part of the documented interface.
 */
function classOf(request: FastifyRequest): RouteClass | "wait" | "none" {
  const route = routeOf(request);
  if (route === undefined) return "none";
  return waitMs(route, request) > 0 ? "wait" : route.class;
}

/** A request that revealed secrets was audited before its response left. */
function isAudited(route: Route, status: number): boolean {
  if (route.revealsSecrets === true) return status !== 200;
  return isCommand(route) || REFUSED.has(status);
}
