import type { FastifyReply, FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import type { Clock } from "#kernel/clock.ts";
import { type Authenticate, authenticateRequest, demandScope } from "../identity/keys/auth.ts";
import { requiredScopes } from "../identity/keys/scopes.ts";
import { createBuckets, type Rate } from "./rate-limit.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { refuse } from "../problems/refusals.ts";
import { sharedLimit } from "./shared-limit.ts";
import { isCommand } from "./request-state.ts";
import type { Route, RouteClass } from "./route.ts";

export type ClassLimits = {
  /** Requests of one client. */
  readonly rate: Rate;
  /** Requests in progress at once, of all clients together. */
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
  /** Takes a slot of the class for the client; the returned function frees it. */
  readonly enter: (routeClass: RouteClass, clientId: string) => () => void;
};

export function createAdmission({ authenticate, limits, now }: AdmissionOptions): Admission {
  const gates = eachClass(limits, (of) => ({
    buckets: createBuckets(of.rate, now),
    slots: sharedLimit(of.inProgress, "of this kind in progress"),
  }));
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
          "This client has sent more requests than it may at this rate, by this API key and those that it has replaced. Send the request again after the time in Retry-After.",
          wait,
        );
      }
    },
    enter: (routeClass, clientId) => gates[routeClass].slots.enter(clientId),
  };
}

function eachClass<T, U>(record: Readonly<Record<RouteClass, T>>, make: (value: T) => U): Record<RouteClass, U> {
  return { read: make(record.read), money: make(record.money), create: make(record.create) };
}
