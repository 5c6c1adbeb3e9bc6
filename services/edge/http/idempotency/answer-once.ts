import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { answerWithin } from "#kernel/jobs/answer-within.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { verdictOf } from "../../problems/http-status.ts";
import { callerOf, inputOf, routeContextOf, type Work } from "../request.ts";
import { isCommand, type Route } from "../route.ts";
import { answeredBy } from "../time-limit.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import type { Claim } from "./idempotency-store.ts";

/** The answer to a request; to a command that was sent before with its Idempotency-Key, that of the first one. */
export async function answerOnce(work: Work<Extract<Route, { kind: "object" }>>): Promise<unknown> {
  const { route, runtime, request, reply } = work;
  const claim = await claimCommand(work);
  // Until here no service was called.
  request.edge.wasSent = true;
  const context = routeContextOf(work);
  const handle = async () => await route.handle(runtime.deps, inputOf(route, request), context);
  if (!isCommand(route)) return await handle();
  if (claim === undefined) return await repeatLost(context, handle);
  const result = await runtime.idempotency.execute(claim, () => repeatLost(context, handle));
  if (claim.isRepeated) reply.header("idempotency-replayed", "true");
  return result;
}

/** The command that a request stands for: its own, or the first one under its Idempotency-Key. */
async function claimCommand({ route, runtime, request, reply }: Work): Promise<Claim | undefined> {
  const key = idempotencyKeyOf(request);
  const { operationId } = request.edge;
  if (operationId === undefined || key === undefined) return undefined;
  const claim = await runtime.idempotency.claim({
    clientId: callerOf(request).clientId,
    key,
    fingerprint: fingerprintOf(route, request),
    commandId: operationId,
    busyUntil: new Date(answeredBy(route, request)),
  });
  request.edge.operationId = claim.commandId;
  reply.header("x-operation-id", claim.commandId);
  return claim;
}

/** After this time a service or broker that was killed runs again, and the second attempt still has time for its answer. */
const FIRST_WAIT_SHARE = 0.5;
/** A service that refused because it restarts is usually back after this pause. */
const PAUSE_MS = 250;
/** With less time than this a second attempt would not be answered. */
const ATTEMPT_NEEDS_MS = 1_500;

/**
 * Sends a command, and once more under the same id when no answer came: the service executes an id once. A success of
 * either attempt is the answer. A refusal of one attempt proves nothing while the other may still be executed.
 */
export async function repeatLost<T>(context: CallContext, send: () => Promise<T>): Promise<T> {
  const first = send();
  const settled = Promise.allSettled([first]).then(([outcome]) => outcome);
  const early = await answerWithin(settled, Math.max(0, remainingMs(context) * FIRST_WAIT_SHARE), undefined);
  if (early?.status === "fulfilled") return early.value;
  if (early !== undefined && !isLost(early.reason)) throw early.reason;
  if (early !== undefined) await sleep(PAUSE_MS);
  if (remainingMs(context) < ATTEMPT_NEEDS_MS) return await first;
  return await secondAttempt(first, send());
}

async function secondAttempt<T>(first: Promise<T>, second: Promise<T>): Promise<T> {
  try {
    return await Promise.any([first, second]);
  } catch (error) {
    assert(error instanceof AggregateError);
    const [one, other]: readonly unknown[] = error.errors;
    // A fault has ended the first attempt, so the result of the second one comes after it.
    if (isFault(one) && !isTransportRefusal(other)) throw other;
    throw !isUnknown(one) && isUnknown(other) ? other : one;
  }
}

/** A refusal that names the operation is an answer of its service, not a lost one. */
function isLost(error: unknown): boolean {
  return error instanceof Refusal && error.operationId === undefined && isUnknown(error);
}

function isUnknown(error: unknown): boolean {
  return !(error instanceof Refusal) || verdictOf(error, "command").outcome === "unknown";
}

function isFault(error: unknown): boolean {
  return error instanceof Refusal && error.status === "internal";
}

/** The attempt did not reach the service of the command. */
function isTransportRefusal(error: unknown): boolean {
  return error instanceof Refusal && (error.status === "unavailable" || error.status === "busy");
}
