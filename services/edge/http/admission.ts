import type { FastifyReply, FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import { systemClock } from "#kernel/values/clock.ts";
import { type Authenticate, type Caller, countFailure, demandScope } from "../identity/keys/caller.ts";
import { requiredScopes } from "../wire/scopes.ts";
import { createBuckets, type Rate, rateLimitHeaders } from "../identity/rate-limit.ts";
import { refuse } from "../problems/refusals.ts";
import { isCommand, type Route, type RouteClass } from "./route.ts";
import { sharedLimit } from "./shared-limit.ts";

export type ClassLimits = {
  /** Requests of one client. */
  readonly rate: Rate;
  /** Requests in progress at once, of all clients together. */
  readonly inProgress: number;
};

export type AdmissionOptions = {
  readonly authenticate: Authenticate;
  readonly limits: Readonly<Record<RouteClass, ClassLimits>>;
};

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission({ authenticate, limits }: AdmissionOptions) {
  const gateOf = ({ rate, inProgress }: ClassLimits) => ({
    rate,
    buckets: createBuckets(rate, systemClock),
    slots: sharedLimit(inProgress, "of this kind in progress"),
  });
  const gates = { read: gateOf(limits.read), money: gateOf(limits.money), create: gateOf(limits.create) };
  return {
    /** Authentication, rate and scope, decided before the body is read. */
    async admit(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (isCommand(route)) {
        request.edge.operationId = uuidv7();
        reply.header("x-operation-id", request.edge.operationId);
      }
      const caller = await callerOf(request, authenticate);
      request.edge.caller = caller;
      const { rate, buckets } = gates[route.class];
      const wait = buckets.take(caller.clientId);
      reply.headers(rateLimitHeaders(route.class, rate, buckets.levelOf(caller.clientId)));
      demandScope(caller, requiredScopes(route));
      if (wait !== undefined) {
        throw refuse(
          "rate_limited",
          "This client has sent more requests than it may at this rate, by this API key and those that it has replaced. Send the request again after the time in Retry-After.",
          wait,
        );
      }
    },
    /** Takes a slot of the class for the client; the returned function frees it. */
    enter: (routeClass: RouteClass, clientId: string) => gates[routeClass].slots.enter(clientId),
  };
}

const BEARER = /^Bearer +([\x21-\x7e]{1,256}) *$/i;

async function callerOf({ headers, ip }: FastifyRequest, authenticate: Authenticate): Promise<Caller> {
  const [, presentedKey] = BEARER.exec(headers.authorization ?? "") ?? [];
  const caller = presentedKey === undefined ? countFailure("no_key") : await authenticate(presentedKey, ip);
  if (caller !== undefined) return caller;
  throw refuse("unauthorized", "A valid API key is required as a bearer token in the Authorization header.");
}
