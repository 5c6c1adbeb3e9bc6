import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from "fastify";
import type { Log } from "#kernel/process/log.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { type AdmissionOptions, createAdmission } from "./http/admission.ts";
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
import { createLongPoll } from "./http/long-poll.ts";
import { type Readiness, serveHealth } from "./http/readiness.ts";
import { recordRequests } from "./http/record-request.ts";
import { registerRoute } from "./http/register-route.ts";
import { beginRequest, factsOf, pathOf, requestIdOf, type RequestState, type Runtime } from "./http/request.ts";
import type { Route } from "./http/route.ts";
import { serveStatic } from "./http/static/serve-static.ts";
import { withoutPorts } from "./identity/keys/addresses.ts";
import { PROBLEM_TYPE, problemOf } from "./problems/problem.ts";
import { refuse } from "./problems/refusals.ts";
import { parseQuery } from "./wire/query-string.ts";

export type AppOptions = AdmissionOptions &
  Omit<Runtime, "longPoll"> & {
    readonly routes: readonly Route[];
    readonly readiness: Readiness;
    /** The process has received its stop signal: clients are asked to open their next connection, which reaches another one. */
    readonly isDraining: () => boolean;
    /** Addresses of proxies whose X-Forwarded-For is trusted. */
    readonly trustProxy?: readonly string[] | undefined;
    /** The folder of the console and of the documentation; undefined = neither is served. */
    readonly dist?: string | undefined;
  };

/** The HTTP side of the edge, not listening yet. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { log } = options;
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
      request.edge ??= beginRequest(request);
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
    throw refuse("route_not_found", `Route ${request.method} ${pathOf(request)} does not exist.`);
  });
  addHooks(app, options);
  await registerRoutes(app, options);
  if (options.dist !== undefined) serveStatic(app, options.dist, log);
  serveHealth(app, options.readiness);
  return app;
}

async function registerRoutes(app: FastifyInstance, options: AppOptions): Promise<void> {
  const longPoll = createLongPoll();
  // A process that stops answers waiting requests at once.
  app.addHook("preClose", async () => longPoll.close());
  const runtime = { ...options, longPoll };
  const admission = createAdmission(options);
  const byBody = Map.groupBy(options.routes, ({ body, hasOptionalBody }) => {
    if (body === undefined) return ignoreBodies;
    return hasOptionalBody === true ? acceptOptionalBodies : acceptJsonBodies;
  });
  for (const [readBodies, routes] of byBody) {
    await app.register(async (scope) => {
      readBodies(scope);
      for (const route of routes) registerRoute(scope, route, runtime, admission);
    });
  }
  await app.register(async (scope) => {
    ignoreBodies(scope);
    completeMethods(scope, options.routes);
  });
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const satisfies readonly HTTPMethods[];

/**
 * Answers methods that a path does not have with 405, and OPTIONS with those that it has. Registered path by path,
 * because /master/add would otherwise be read as the Master whose id is "add".
 */
function completeMethods(app: FastifyInstance, routes: readonly Route[]): void {
  for (const [url, ofUrl] of Map.groupBy(routes, (route) => route.url)) {
    const methods: string[] = ofUrl.map(({ method }) => method);
    const withHead = methods.includes("GET") ? [...methods, "HEAD"] : methods;
    const allow = [...withHead, "OPTIONS"].join(", ");
    app.route({
      method: [...METHODS.filter((method) => !withHead.includes(method)), "OPTIONS"],
      url,
      // Before the body is read, because it is not used.
      async onRequest({ method }, reply) {
        reply.header("allow", allow);
        if (method === "OPTIONS") return reply.code(204).send();
        throw refuse("method_not_allowed", `Method ${method} is not allowed. Allowed: ${allow}.`);
      },
      handler: async () => undefined,
    });
  }
}

function addHooks(app: FastifyInstance, { log, audit, isDraining }: AppOptions): void {
  const record = recordRequests(log, audit);
  app.addHook("onRequest", (request, reply, done) => {
    const { headers } = request.raw;
    const forwardedFor = headers["x-forwarded-for"];
    // Before the address of the caller is asked for.
    if (typeof forwardedFor === "string") headers["x-forwarded-for"] = withoutPorts(forwardedFor);
    request.edge = beginRequest(request);
    // Emitted also when the caller disconnects before the response.
    reply.raw.once("close", () => record(request, reply, CALLER_LEFT));
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
    record(request, reply, reply.statusCode);
    done();
  });
}

function commonHeaders({ id }: FastifyRequest): Record<string, string> {
  return { "x-request-id": id, "cache-control": "no-store", "x-content-type-options": "nosniff" };
}

/** The status that nginx logs for a client that closed its connection. */
const CALLER_LEFT = 499;

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
