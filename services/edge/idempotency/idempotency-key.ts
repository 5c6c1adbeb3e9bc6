import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { FieldError } from "#kernel/refusal.ts";
import { string } from "../schemas/field.ts";

export const IDEMPOTENCY_KEY = "Idempotency-Key";
/** As long as other payment interfaces accept; the key is part of an index. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

const HEADER = IDEMPOTENCY_KEY.toLowerCase();
const VISIBLE_ASCII = new RegExp(String.raw`^[\x21-\x7e]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}$`);

/** For the documentation only; an invalid key is reported with the other invalid fields. */
export const IdempotencyHeader = Type.Object({
  [IDEMPOTENCY_KEY]: Type.Optional(
    string({
      description:
        "Makes the request safe to repeat: the same key with the same parameters is executed once and returns the same result for 30 days. 1 to 255 visible ASCII characters, unique for each request; a UUID is a good choice.",
      example: "0198c0de-0000-7000-8000-00000000c0de",
      shown: { minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH, pattern: "^[!-~]+$" },
    }),
  ),
});

/** The header as it was sent; several values make one that is invalid. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const sent = headers[HEADER];
  return Array.isArray(sent) ? sent.join(" ") : sent;
}

export function idempotencyKeyErrors(request: Pick<FastifyRequest, "headers">): readonly FieldError[] {
  const key = idempotencyKeyOf(request);
  if (key === undefined || VISIBLE_ASCII.test(key)) return [];
  const message = `${IDEMPOTENCY_KEY} must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters.`;
  return [{ field: IDEMPOTENCY_KEY, code: "malformed", message }];
}
