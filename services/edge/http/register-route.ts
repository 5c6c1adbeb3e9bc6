import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FieldError } from "#kernel/refusal.ts";
import type { Log } from "#kernel/log.ts";
import type { Admission } from "./admission.ts";
import { answerOnce, claimCommand } from "./idempotency/answer-once.ts";
import type { Audit } from "../identity/audit/audit.ts";
import { auditEntry } from "../identity/audit/audit-entry.ts";
import type { IdempotencyStore } from "./idempotency/idempotency-store.ts";
import { idempotencyKeyErrors } from "./idempotency/idempotency-key.ts";
import { invalid } from "../problems/problem.ts";
import { writeDurably } from "../identity/audit/write-durably.ts";
import { repeatLost } from "./idempotency/repeat-lost.ts";
import { isCommand } from "./request-state.ts";
import { callerOf, contextOf, inputOf, routeContextOf, pollOf, waitMs } from "./route-context.ts";
import { Accepted, type Deps, type Route } from "./route.ts";
import { answerInTime } from "./time-limit.ts";
import { streamAnswer } from "./stream-answer.ts";
import { sendFile, wantsCsv } from "./send-file.ts";
import { normalize } from "./normalize.ts";
import { nameIgnoredFields, unknownParameters } from "./unknown-fields.ts";
import { findMistakes } from "./validation.ts";
import type { LongPoll } from "./long-poll.ts";
import { arrayOf, writeArray } from "../wire/json-array.ts";

export type RouteRuntime = {
  readonly deps: Deps;
  readonly admission: Admission;
  readonly audit: Audit;
  readonly idempotency: IdempotencyStore;
  readonly longPoll: LongPoll;
  readonly log: Log;
};

/** Recorded, and executed later. */
const ACCEPTED = 202;

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
      // The items of a list are written one by one.
      ...(route.kind === "object" ? { response: { 200: route.reply, ...acceptedOf(route) } } : {}),
    },
    // The framework would report only the first mistake.
    attachValidation: true,
    onRequest: (request, reply) => runtime.admission.admit(route, request, reply),
    preValidation: (request, reply, done) => {
      normalize(route, request);
      nameIgnoredFields(route, request, reply);
      validate(route, request, runtime.deps);
      done();
    },
    handler: (request, reply) => {
      // Held until the work is done, also when the caller was answered or has left before.
      const leave = runtime.admission.enter(route.class, callerOf(request).clientId);
      return request.edge.span.run(() => {
        if (route.kind === "list") return stream({ route, runtime, leave }, request, reply);
        if (route.file !== undefined) reply.header("vary", "accept");
        if (route.file !== undefined && wantsCsv(request)) {
          return sendFile({ route, file: route.file, runtime, leave }, request, reply);
        }
        return answer({ route, runtime, leave }, request, reply);
      });
    },
  });
}

const acceptedOf = ({ accepted }: ObjectOf) => (accepted === undefined ? {} : { [ACCEPTED]: accepted.reply });

type Work<R extends Route> = { readonly route: R; readonly runtime: RouteRuntime; readonly leave: () => void };

function validate(route: Route, request: FastifyRequest, deps: Deps): void {
  if (route.body !== undefined) request.body ??= {};
  const errors = [...findMistakes(request), ...unknownParameters(route, request)];
  const isReadable = !errors.some(({ field }) => field === "body");
  if (isReadable) errors.push(...missingChange(route, request));
  if (route.kind === "object" && isReadable) errors.push(...(route.check?.(inputOf(route, request), deps) ?? []));
  if (isCommand(route)) errors.push(...idempotencyKeyErrors(request));
  if (errors.length > 0) throw invalid(errors);
}

/** A change has at least one field. */
function missingChange({ method, body }: Route, request: FastifyRequest): FieldError[] {
  if (method !== "PATCH" || body === undefined) return [];
  const fields = Object.keys(body.properties);
  if (fields.some((name) => Object.hasOwn(request.body as object, name))) return [];
  return [{ field: "body", code: "required", message: `body must have at least one of ${fields.join(", ")}.` }];
}

async function answer({ route, runtime, leave }: Work<ObjectOf>, request: FastifyRequest, reply: FastifyReply) {
  const { receivedAt } = request.edge;
  const work = carryOut(route, runtime, request, reply).finally(leave);
  const result = await answerInTime(route.class, receivedAt, work, waitMs(route, request));
  if (result instanceof Accepted) {
    reply.code(ACCEPTED);
    return result.body;
  }
  // Only then are secrets returned.
  if (route.revealsSecrets === true) {
    await writeDurably(runtime.audit, auditEntry(request, reply.statusCode));
  }
  return result;
}

async function carryOut(route: ObjectOf, runtime: RouteRuntime, request: FastifyRequest, reply: FastifyReply) {
  const { deps, idempotency } = runtime;
  const claim = await claimCommand(idempotency, route, request, reply);
  // Until here no service was called.
  request.edge.wasSent = true;
  const context = routeContextOf(route, runtime, request, reply);
  const handle = async () => await route.handle(deps, inputOf(route, request), context);
  if (!isCommand(route)) return await handle();
  return await answerOnce(idempotency, claim, reply, () => repeatLost(context, handle));
}

/** The first page is awaited, so that a refusal becomes a problem; the rest is read as the caller consumes it. */
async function stream({ route, runtime, leave }: Work<ListOf>, request: FastifyRequest, reply: FastifyReply) {
  const poll = pollOf(route, runtime.longPoll, request, reply);
  const contextOfPage = () => contextOf(route, request, Date.now());
  const pages = route.pages(runtime.deps, inputOf(route, request), contextOfPage, poll);
  const { receivedAt } = request.edge;
  const first = await answerInTime(route.class, receivedAt, pages.next(), waitMs(route, request)).catch(
    (error: unknown) => {
      leave();
      throw error;
    },
  );
  reply.type("application/json; charset=utf-8");
  const serialize = reply.compileSerializationSchema(route.item as Readonly<Record<string, unknown>>);
  if (first.done === true) {
    leave();
    return reply.send(arrayOf(first.value, serialize));
  }
  return reply.send(streamAnswer(writeArray(first.value, pages, serialize), { request, log: runtime.log, leave }));
}
