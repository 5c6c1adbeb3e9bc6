import type { FastifyRequest } from "fastify";
import type { FieldError } from "#kernel/refusal.ts";

const IDEMPOTENCY_KEY = "Idempotency-Key";
/** As long as other payment interfaces accept; the key is part of an index. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

const HEADER = IDEMPOTENCY_KEY.toLowerCase();
const VISIBLE_ASCII = new RegExp(String.raw`^[\x21-\x7e]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}$`);

/** The header as it was sent; several values make one that is invalid. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const sent = headers[HEADER];
  return Array.isArray(sent) ? sent.join(" ") : sent;
}

export function idempotencyKeyErrors(request: Pick<FastifyRequest, "headers">): readonly FieldError[] {
  const key = idempotencyKeyOf(request);
  if (key === undefined || VISIBLE_ASCII.test(key)) return [];
  const message = `${IDEMPOTENCY_KEY} must be given once, with 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters.`;
  return [{ field: IDEMPOTENCY_KEY, code: "malformed", message }];
}
