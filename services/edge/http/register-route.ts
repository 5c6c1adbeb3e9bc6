import type { FastifyInstance } from "fastify";
import { writeDurably } from "../identity/audit/audit.ts";
import type { Admission } from "./admission.ts";
import { checkRequest } from "./check-request.ts";
import { answerOnce } from "./idempotency/answer-once.ts";
import { auditEntry, callerOf, type Runtime } from "./request.ts";
import { Accepted, type Route } from "./route.ts";
import { sendFile, sendList, type Answering, wantsCsv } from "./stream-answer.ts";
import { answerInTime } from "./time-limit.ts";

type ObjectRoute = Extract<Route, { kind: "object" }>;

/** Recorded, and executed later. */
const ACCEPTED = 202;

/** The way of a request: it is admitted, its body is read, it is checked, and answered. */
export function registerRoute(app: FastifyInstance, route: Route, runtime: Runtime, admission: Admission): void {
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
    onRequest: (request, reply) => admission.admit(route, request, reply),
    preValidation: (request, reply, done) => {
      checkRequest(route, runtime.deps, request, reply);
      done();
    },
    handler: (request, reply) => {
      // Held until the work is done, also when the caller was answered or has left before.
      const leave = admission.enter(route.class, callerOf(request).clientId);
      const work = { runtime, request, reply, leave };
      return request.edge.span.run(() => {
        if (route.kind === "list") return sendList({ ...work, route });
        if (route.file === undefined) return answer({ ...work, route });
        reply.header("vary", "accept");
        return wantsCsv(request) ? sendFile({ ...work, route }, route.file) : answer({ ...work, route });
      });
    },
  });
}

const acceptedOf = ({ accepted }: ObjectRoute) => (accepted === undefined ? {} : { [ACCEPTED]: accepted.reply });

async function answer({ leave, ...work }: Answering<ObjectRoute>): Promise<unknown> {
  const { route, runtime, request, reply } = work;
  const result = await answerInTime(route, request, answerOnce(work).finally(leave));
  if (result instanceof Accepted) {
    reply.code(ACCEPTED);
    return result.body;
  }
  // Only then are secrets returned.
  if (route.revealsSecrets === true) await writeDurably(runtime.audit, auditEntry(request, reply.statusCode));
  return result;
}
