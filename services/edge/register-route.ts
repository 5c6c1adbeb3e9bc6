import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/log.ts";
import type { Admission } from "./admission.ts";
import type { Audit } from "./audit.ts";
import { auditEntry } from "./audit-entry.ts";
import { invalid } from "./problem.ts";
import { refuse } from "./refusals.ts";
import { traceparentOf } from "./request-id.ts";
import { isCommand } from "./request-state.ts";
import type { Deps, Route, RouteContext } from "./route.ts";
import { answerInTime, deadlineOf } from "./time-limit.ts";
import { findMistakes } from "./validation.ts";
import { writeArray } from "./wire/json-array.ts";

export type RouteRuntime = {
  readonly deps: Deps;
  readonly admission: Admission;
  readonly audit: Audit;
  readonly log: Log;
};

type Input = { params: never; query: never; body: never };
type ListOf = Extract<Route, { kind: "list" }>;
type ObjectOf = Extract<Route, { kind: "object" }>;

export function registerRoute(app: FastifyInstance, route: Route, runtime: RouteRuntime): void {
  const { params, query, body } = route;
  app.route({
    method: route.method,
    url: route.url,
    config: { route },
    schema: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(body === undefined ? {} : { body }),
      response: { 200: route.kind === "object" ? route.reply : Type.Array(route.item) },
      summary: route.summary,
      description: `${route.description} Scope: \`${route.scope}\`.`,
      tags: [route.tag],
      security: [{ apiKey: [] }],
    },
    // All mistakes have been found by then; the framework would tell only the first.
    attachValidation: true,
    onRequest: (request, reply) => runtime.admission.admit(route, request, reply),
    preValidation: async (request) => validate(route, request, runtime.deps),
    handler: (request, reply) => {
      // Held until the work is done, not until the caller has its answer or has left.
      const leave = runtime.admission.enter(route.class);
      request.edge.wasSent = true;
      if (route.kind === "list") return stream({ route, runtime, leave }, request, reply);
      return answer({ route, runtime, leave }, request, reply);
    },
  });
}

type Work<R extends Route> = { readonly route: R; readonly runtime: RouteRuntime; readonly leave: () => void };

async function validate(route: Route, request: FastifyRequest, deps: Deps): Promise<void> {
  if (route.body !== undefined) request.body ??= {};
  const errors = findMistakes(request);
  const isReadable = !errors.some(({ field }) => field === "body");
  if (route.kind === "object" && isReadable) errors.push(...(route.check?.(inputOf(request), deps) ?? []));
  if (errors.length > 0) throw invalid(errors);
}

async function answer({ route, runtime, leave }: Work<ObjectOf>, request: FastifyRequest, reply: FastifyReply) {
  const { receivedAt } = request.edge;
  const context = {
    ...contextOf(route, request, receivedAt),
    key: keyOf(request),
    setHeader: (name: string, value: string) => void reply.header(name, value),
  };
  const work = route.handle(runtime.deps, inputOf(request), context);
  const result = await answerInTime(route.class, receivedAt, work.finally(leave));
  if (route.revealsSecrets === true) await putOnRecord(runtime.audit, request, reply);
  return result;
}

/** No record, no secret. */
async function putOnRecord(audit: Audit, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await audit.write(auditEntry(request, reply.statusCode)).catch((cause: unknown) => {
    throw Object.assign(refuse("service_unavailable", "The access could not be put on record."), { cause });
  });
}

/** The first page is awaited, so that what can be refused is refused properly; the rest is read as the caller takes it. */
async function stream({ route, runtime, leave }: Work<ListOf>, request: FastifyRequest, reply: FastifyReply) {
  const pages = route.pages(runtime.deps, inputOf(request), () => contextOf(route, request, Date.now()));
  const rest = pages[Symbol.asyncIterator]();
  const first = await answerInTime(route.class, request.edge.receivedAt, rest.next()).catch((error: unknown) => {
    leave();
    throw error;
  });
  const serialize = reply.compileSerializationSchema(route.item as Readonly<Record<string, unknown>>);
  const text = Readable.from(writeArray(first, rest, serialize), { objectMode: false });
  text.once("close", leave);
  // The status has left already; the connection is cut, so that nobody takes a part for the whole.
  text.on("error", (error) => {
    runtime.log.warn("a list broke off", { request_id: request.id, route: route.url, error });
  });
  return reply.type("application/json; charset=utf-8").send(text);
}

function inputOf({ params, query, body }: FastifyRequest): Input {
  // The schemas have just said what these are.
  return { params, query, body } as Input;
}

function keyOf({ edge: { caller } }: FastifyRequest): RouteContext["key"] {
  return { id: caller?.keyId ?? "", rejectsDuplicates: caller?.rejectsDuplicates ?? false };
}

function contextOf(route: Route, request: FastifyRequest, since: number): CallContext {
  const deadline = deadlineOf(route.class, since);
  return {
    requestId: request.id,
    commandId: isCommand(route) ? (request.edge.operationId ?? "") : "",
    caller: "edge",
    deadline,
    traceparent: traceparentOf(request.raw),
    signal: AbortSignal.timeout(Math.max(1, deadline.getTime() - Date.now())),
  };
}
