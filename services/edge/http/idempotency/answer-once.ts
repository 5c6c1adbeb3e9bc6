import type { FastifyReply, FastifyRequest } from "fastify";
import { fingerprintOf } from "./fingerprint.ts";
import type { Claim, IdempotencyStore } from "./idempotency-store.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { isCommand } from "../request-state.ts";
import type { Route } from "../route.ts";
import { answeredBy } from "../time-limit.ts";

/** The command that a request stands for: its own, or the first one under its Idempotency-Key. */
export async function claimCommand(
  idempotency: IdempotencyStore,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Claim | undefined> {
  const key = idempotencyKeyOf(request);
  const { operationId, caller, receivedAt } = request.edge;
  if (!isCommand(route) || key === undefined || operationId === undefined || caller === undefined) return undefined;
  const claim = await idempotency.claim({
    clientId: caller.clientId,
    key,
    fingerprint: fingerprintOf(route, request),
    commandId: operationId,
    busyUntil: new Date(answeredBy(route.class, receivedAt)),
  });
  request.edge.operationId = claim.commandId;
  reply.header("x-operation-id", claim.commandId);
  return claim;
}

/** Executes the command; a header of the response marks a repetition. */
export async function answerOnce<T>(
  idempotency: IdempotencyStore,
  claim: Claim | undefined,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T> {
  if (claim === undefined) return await work();
  const result = await idempotency.execute(claim, work);
  if (claim.isRepeated) reply.header("idempotency-replayed", "true");
  return result;
}
