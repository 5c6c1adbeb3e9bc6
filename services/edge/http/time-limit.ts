import type { FastifyRequest } from "fastify";
import { answerWithin } from "#kernel/jobs/answer-within.ts";
import { refuse } from "../problems/refusals.ts";
import type { Route, RouteClass } from "./route.ts";

/** The caller has its answer within this time, counted from the first byte of its request. */
export const ANSWER_WITHIN_MS: Readonly<Record<RouteClass, number>> = { read: 5_000, money: 10_000, create: 30_000 };

/** Services have to answer this much earlier, so that time is left for the response. */
const DEADLINE_MARGIN_MS = 500;
/** The edge itself stops waiting this much earlier, whatever a service does. */
const ANSWER_MARGIN_MS = 200;

export function deadlineOf(routeClass: RouteClass, receivedAt: number): Date {
  return new Date(receivedAt + ANSWER_WITHIN_MS[routeClass] - DEADLINE_MARGIN_MS);
}

/** The last instant at which the caller expects an answer, unless it has asked to wait. */
export function answeredBy(route: Route, { edge: { receivedAt } }: FastifyRequest): number {
  return receivedAt + ANSWER_WITHIN_MS[route.class];
}

/** How much longer the answer may take, because the caller has asked to wait. */
export function waitMs({ query }: Route, request: FastifyRequest): number {
  if (query === undefined || !Object.hasOwn(query.properties, "wait")) return 0;
  const { wait = "0" } = request.query as { readonly wait?: string };
  return Number(wait) * 1_000;
}

const LATE = Symbol("late");

/** The result of the work, or an unknown outcome when it takes too long. The work itself goes on. */
export async function answerInTime<T>(route: Route, request: FastifyRequest, work: Promise<T>): Promise<T> {
  const remainingMs = answeredBy(route, request) + waitMs(route, request) - ANSWER_MARGIN_MS - Date.now();
  const answer = await answerWithin<T | typeof LATE>(work, Math.max(0, remainingMs), LATE);
  if (answer === LATE) throw refuse("outcome_unknown", "The services did not answer in time.", { outcome: "unknown" });
  return answer;
}
