import type { FastifyReply, FastifyRequest } from "fastify";
import { fingerprintOf } from "./fingerprint.ts";
import type { Given, GiveOnce } from "./idempotency-store.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { isCommand } from "../request-state.ts";
import type { Route } from "../route.ts";
import { answeredBy } from "../time-limit.ts";

/** Which command a request stands for: its own, or the one that was given first under its Idempotency-Key. */
export async function claimCommand(
  giveOnce: GiveOnce,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Given | undefined> {
  const key = idempotencyKeyOf(request);
  const { operationId, caller, receivedAt } = request.edge;
  if (!isCommand(route) || key === undefined || operationId === undefined || caller === undefined) return undefined;
  const given = await giveOnce.claim({
    keyId: caller.keyId,
    key,
    fingerprint: fingerprintOf(route, request),
    commandId: operationId,
    busyUntil: new Date(answeredBy(route.class, receivedAt)),
  });
  request.edge.operationId = given.commandId;
  reply.header("x-operation-id", given.commandId);
  return given;
}

/** Gives the command, and says so when it was given before. */
export async function answerOnce<T>(
  giveOnce: GiveOnce,
  given: Given | undefined,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T> {
  if (given === undefined) return await work();
  const result = await giveOnce.give(given, work);
  if (given.isRepeated) reply.header("idempotency-replayed", "true");
  return result;
}
