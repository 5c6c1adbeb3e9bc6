import type { FastifyReply, FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import type { Clock } from "#kernel/clock.ts";
import { limit } from "#kernel/contract/limit.ts";
import { type Authenticate, authenticateRequest, demandScope } from "./keys/auth.ts";
import { createBuckets, type Rate } from "./rate-limit.ts";
import { refuse } from "./problems/refusals.ts";
import { isCommand } from "./request-state.ts";
import type { Route, RouteClass } from "./route.ts";

export type ClassLimits = {
  /** How often one key may ask. */
  readonly rate: Rate;
  /** How many are worked on at once, of all keys together. */
  readonly inProgress: number;
};

export type AdmissionOptions = {
  readonly authenticate: Authenticate;
  readonly limits: Readonly<Record<RouteClass, ClassLimits>>;
  readonly now: Clock;
};

export type Admission = {
  /** Who asks, may they, not too often: decided before a byte of the body is read. */
  readonly admit: (route: Route, request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Takes one of the places of the class; what it returns gives it back. */
  readonly enter: (routeClass: RouteClass) => () => void;
};

/** A request that finds all places taken has lost nothing by coming back a little later. */
const RETRY_WHEN_FULL_MS = 1_000;

export function createAdmission({ authenticate, limits, now }: AdmissionOptions): Admission {
  const gates = eachClass(limits, (of) => ({ buckets: createBuckets(of.rate, now), places: limit(of.inProgress) }));
  return {
    async admit(route, request, reply) {
      if (isCommand(route)) {
        request.edge.operationId = uuidv7();
        reply.header("x-operation-id", request.edge.operationId);
      }
      const caller = await authenticateRequest(authenticate, request);
      request.edge.caller = caller;
      demandScope(caller, route.scope, route.orScopes);
      const wait = gates[route.class].buckets.take(caller.keyId);
      if (wait !== undefined) throw refuse("rate_limited", "Too many requests with this key.", wait);
    },
    enter(routeClass) {
      const { places } = gates[routeClass];
      if (places.tryEnter()) return places.leave;
      throw refuse("service_unavailable", "Too many requests are in progress.", { retryAfterMs: RETRY_WHEN_FULL_MS });
    },
  };
}

function eachClass<T, U>(record: Readonly<Record<RouteClass, T>>, make: (value: T) => U): Record<RouteClass, U> {
  return { read: make(record.read), money: make(record.money), create: make(record.create) };
}
