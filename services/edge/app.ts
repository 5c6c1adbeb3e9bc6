import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { systemClock } from "#kernel/clock.ts";
import type { Log } from "#kernel/log.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type AdmissionOptions, createAdmission } from "./http/admission.ts";
import type { Audit } from "./identity/audit/audit.ts";
import { refusedRequests } from "./identity/audit/refused-requests.ts";
import { auditEntry } from "./identity/audit/audit-entry.ts";
import { acceptJsonBodies, acceptOptionalBodies, ignoreBodies, MAX_BODY_BYTES } from "./http/body.ts";
import { compileSerializer, compileValidator } from "./http/compilers.ts";
import {
  answerClientError,
  demandPlainHttp,
  HTTP_LIMITS,
  listenTo,
  MAX_URL_LENGTH,
  noteRequest,
} from "./http/connection.ts";
import { serveStatic } from "./http/static/serve-static.ts";
import { serveHealth } from "./health.ts";
import { completeMethods } from "./http/methods.ts";
import { observeHttp } from "./http/observe.ts";
import type { IdempotencyStore } from "./http/idempotency/idempotency-store.ts";
import { PROBLEM_TYPE, problemOf } from "./problems/problem.ts";
import type { Readiness } from "./http/readiness.ts";
import { refuse } from "./problems/refusals.ts";
import { registerRoute } from "./http/register-route.ts";
import { requestIdOf, spanOf } from "./http/request-id.ts";
import { beginRequest, factsOf, isCommand, pathOf, type RequestState, routeOf } from "./http/request-state.ts";
import type { Deps, Route } from "./http/route.ts";
import { ROUTES } from "./api/routes.ts";
import { withoutPorts } from "./identity/keys/addresses.ts";
import { ANY_KEY, isScope } from "./identity/keys/scopes.ts";
import { createLongPoll } from "./http/long-poll.ts";
import { parseQuery } from "./wire/query-string.ts";

export type AppOptions = Pick<AdmissionOptions, "authenticate" | "limits"> & {
  readonly deps: Deps;
  readonly audit: Audit;
  readonly readiness: Readiness;
  /** The process has received its stop signal: clients are asked to open their next connection, which reaches another one. */
  readonly isDraining?: () => boolean;
  readonly idempotency: IdempotencyStore;
  readonly log: Log;
  /** Addresses of proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy?: readonly string[] | undefined;
  readonly routes?: readonly Route[];
  /** The folder of the console and of the documentation; undefined = neither is served. */
  readonly dist?: string | undefined;
};

/** The HTTP side of the edge, not listening yet. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { log, routes = ROUTES } = options;
  const app = Fastify({
    ...HTTP_LIMITS,
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: options.trustProxy === undefined ? false : [...options.trustProxy],
    // Requests on open connections are still answered while the app closes.
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery, maxParamLength: MAX_URL_LENGTH },
    frameworkErrors: (error, request, reply) => {
      // The path could not be parsed, so no hook has seen the request.
      request.edge ??= beginRequest();
      reply.headers(commonHeaders(request));
      void sendProblem(log, error, request, reply);
    },
    clientErrorHandler: answerClientError,
  });
  listenTo(app.server);
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.decorateRequest("edge", undefined as unknown as RequestState);
  // Of what is no route, no body is read: it does not exist, whatever is sent to it.
  app.removeAllContentTypeParsers();
  app.setErrorHandler((error, request, reply) => sendProblem(log, error, request, reply));
  app.setNotFoundHandler(async (request) => {
    throw refuse("route_not_found", `Route ${request.method} ${pathOf(request.raw.url ?? "/")} does not exist.`);
  });
  addHooks(app, options);
  await registerRoutes(app, routes, options);
  if (options.dist !== undefined) serveStatic(app, options.dist, log);
  serveHealth(app, options.readiness);
  return app;
}

async function registerRoutes(app: FastifyInstance, routes: readonly Route[], options: AppOptions): Promise<void> {
  const { deps, audit, log } = options;
  const longPoll = createLongPoll();
  // A process that stops answers waiting requests at once.
  app.addHook("preClose", async () => longPoll.close());
  const runtime = {
    deps,
    audit,
    log,
    idempotency: options.idempotency,
    longPoll,
    admission: createAdmission({ ...options, now: systemClock }),
  };
  for (const { url, scope } of routes) {
    if (scope !== ANY_KEY && !isScope(scope)) throw new Error(`${url} has no scope`);
  }
  const [withBody, withoutBody] = [
    routes.filter((route) => readsBody(route) && !mayHaveBody(route)),
    routes.filter((route) => !readsBody(route)),
  ];
  await app.register(async (scope) => {
    acceptJsonBodies(scope);
    for (const route of withBody) registerRoute(scope, route, runtime);
  });
  await app.register(async (scope) => {
    acceptOptionalBodies(scope);
    for (const route of routes.filter(mayHaveBody)) registerRoute(scope, route, runtime);
  });
  await app.register(async (scope) => {
    ignoreBodies(scope);
    for (const route of withoutBody) registerRoute(scope, route, runtime);
    const byUrl = Map.groupBy(routes, ({ url }) => url as string);
    completeMethods(scope, new Map([...byUrl].map(([url, of]) => [url, of.map(({ method }) => method)])));
  });
}

function mayHaveBody({ hasOptionalBody = false }: Route): boolean {
  return hasOptionalBody;
}

function readsBody({ body }: Route): boolean {
  return body !== undefined;
}

function addHooks(app: FastifyInstance, { log, audit, isDraining = () => false }: AppOptions): void {
  const isRefusalRecorded = refusedRequests(systemClock);
  const finish = (request: FastifyRequest, reply: FastifyReply, status: number): void => {
    if (request.edge.isFinished) return;
    request.edge.isFinished = true;
    observeHttp(log, request, status, reply.elapsedTime);
    const route = routeOf(request);
    if (route === undefined || !isAudited(route, status)) return;
    if (!REFUSED.has(status) || isRefusalRecorded(request.ip)) audit.note(auditEntry(request, status));
  };
  app.addHook("onRequest", (request, reply, done) => {
    const { headers } = request.raw;
    const forwardedFor = headers["x-forwarded-for"];
    // Before the address of the caller is asked for.
    if (typeof forwardedFor === "string") headers["x-forwarded-for"] = withoutPorts(forwardedFor);
    request.edge = beginRequest(spanOf(request));
    // Emitted also when the caller disconnects before the response.
    reply.raw.once("close", () => finish(request, reply, CALLER_LEFT));
    noteRequest(request, reply.raw);
    reply.headers(commonHeaders(request));
    demandPlainHttp(request, reply);
    if ((request.raw.url ?? "").length > MAX_URL_LENGTH) {
      throw refuse("url_too_long", `The URL is longer than ${MAX_URL_LENGTH} characters.`);
    }
    done();
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isDraining()) reply.header("connection", "close");
  });
  app.addHook("onResponse", (request, reply, done) => {
    finish(request, reply, reply.statusCode);
    done();
  });
}

function commonHeaders({ id }: FastifyRequest): Record<string, string> {
  return { "x-request-id": id, "cache-control": "no-store", "x-content-type-options": "nosniff" };
}

/** The status that nginx logs for a client that closed its connection. */
const CALLER_LEFT = 499;
/** Not authenticated, not permitted, too many. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

/** A request that revealed secrets was audited before its response left. */
function isAudited(route: Route, status: number): boolean {
  if (route.revealsSecrets === true) return status !== 200;
  return isCommand(route) || REFUSED.has(status);
}

async function sendProblem(
  log: Log,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const facts = factsOf(request);
  const { status, code, retryAfterSeconds, body } = problemOf(error, facts);
  request.edge.code = code;
  if (status >= 500 && !(error instanceof Refusal)) {
    log.error("request failed with an unexpected error, report this defect", {
      request_id: facts.requestId,
      route: request.routeOptions.url,
      error,
    });
  }
  if (status === 401) reply.header("www-authenticate", 'Bearer realm="pamm"');
  if (retryAfterSeconds !== undefined) reply.header("retry-after", retryAfterSeconds);
  return reply.code(status).type(PROBLEM_TYPE).send(JSON.stringify(body));
}
