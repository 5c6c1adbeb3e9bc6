import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { IdempotencyKey } from "#proto/pamm/common/v1/idempotency_key.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";

/** The key of a request as the services store it. */
export function sentKeyOf(request: FastifyRequest, keptMs: number): IdempotencyKey | undefined {
  const key = idempotencyKeyOf(request);
  const { caller, receivedAt } = request.edge;
  if (key === undefined || caller === undefined) return undefined;
  return {
    clientId: caller.clientId,
    hash: createHash("sha256").update(key).digest(),
    keptSince: new Date(receivedAt - keptMs),
  };
}
