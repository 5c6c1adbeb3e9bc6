import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { FieldError } from "#kernel/values/refusal.ts";
import type { IdempotencyKey } from "#proto/pamm/common/v1/idempotency_key.ts";

const NAME = "Idempotency-Key";
/** As long as other payment interfaces accept; the key is part of an index. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
const VISIBLE_ASCII = new RegExp(String.raw`^[\x21-\x7e]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}$`);

/** The header as it was sent; several values make one that is invalid. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const sent = headers["idempotency-key"];
  return Array.isArray(sent) ? sent.join(" ") : sent;
}

export function idempotencyKeyErrors(request: Pick<FastifyRequest, "headers">): readonly FieldError[] {
  const key = idempotencyKeyOf(request);
  if (key === undefined || VISIBLE_ASCII.test(key)) return [];
  const message = `${NAME} must be given once, with 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters.`;
  return [{ field: NAME, code: "malformed", message }];
}

/** The key as the services store it. */
export function sentKeyOf(request: FastifyRequest, clientId: string, keptMs: number): IdempotencyKey | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const keptSince = new Date(request.edge.receivedAt - keptMs);
  return { clientId, hash: createHash("sha256").update(key).digest(), keptSince };
}
