import type { FastifyReply, FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import type { Clock } from "#kernel/clock.ts";
import { limit } from "#kernel/contract/limit.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { type Authenticate, authenticateRequest, demandScope } from "./keys/auth.ts";
import { requiredScopes } from "./keys/scopes.ts";
import { createBuckets, type Rate } from "./rate-limit.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { refuse } from "./problems/refusals.ts";
import { isCommand } from "./request-state.ts";
import type { Route, RouteClass } from "./route.ts";

export type ClassLimits = {
  /** Requests of one client. */
  readonly rate: Rate;
  /** Requests in progress at once, of all keys together. */
  readonly inProgress: number;
};

export type AdmissionOptions = {
  readonly authenticate: Authenticate;
  readonly limits: Readonly<Record<RouteClass, ClassLimits>>;
  readonly now: Clock;
};

export type Admission = {
  /** Authentication, scope and rate, decided before the body is read. */
  readonly admit: (route: Route, request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Takes a slot of the class; the returned function frees it. */
  readonly enter: (routeClass: RouteClass) => () => void;
};

export function createAdmission({ authenticate, limits, now }: AdmissionOptions): Admission {
  const gates = eachClass(limits, (of) => ({ buckets: createBuckets(of.rate, now), slots: limit(of.inProgress) }));
  return {
    async admit(route, request, reply) {
      if (isCommand(route)) {
        request.edge.operationId = uuidv7();
        reply.header("x-operation-id", request.edge.operationId);
      }
      const caller = await authenticateRequest(authenticate, request);
      request.edge.caller = caller;
      const { buckets } = gates[route.class];
      const wait = buckets.take(caller.clientId);
      reply.headers(rateLimitHeaders(route.class, limits[route.class].rate, buckets.levelOf(caller.clientId)));
      demandScope(caller, requiredScopes(route));
      if (wait !== undefined) {
        throw refuse(
          "rate_limited",
          "This API key has sent more requests than it may at this rate. Send the request again after the time in Retry-After.",
          wait,
        );
      }
    },
    enter(routeClass) {
      const { slots } = gates[routeClass];
      if (slots.tryEnter()) return slots.leave;
      throw refuse(
        "service_unavailable",
        "The server works on as many requests of this kind as it may at the same time. Nothing was executed. Send the request again in a second.",
        {
          retryAfterMs: RETRY_AFTER_MS,
        },
      );
    },
  };
}

function eachClass<T, U>(record: Readonly<Record<RouteClass, T>>, make: (value: T) => U): Record<RouteClass, U> {
  return { read: make(record.read), money: make(record.money), create: make(record.create) };
}
