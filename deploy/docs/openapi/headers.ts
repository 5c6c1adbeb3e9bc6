import { MAX_IDEMPOTENCY_KEY_LENGTH } from "../../../services/edge/http/idempotency/idempotency-key.ts";
import { AN_OPERATION } from "../../../services/edge/problems/problems.ts";
import type { Components, Json } from "./components.ts";

const A_REQUEST = "0198c0de-0000-7000-8000-000000000000";
const REQUEST_ID = { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" };

type Header = {
  readonly description: string;
  readonly schema: Json;
  readonly example: unknown;
  readonly required?: true;
};

/** Every header that an answer may have beside those of HTTP itself. */
const ANSWER_HEADERS = {
  "X-Request-Id": {
    description: "Id of the request: yours, when it was sent and valid. Quote it when you ask the operator.",
    required: true,
    schema: REQUEST_ID,
    example: A_REQUEST,
  },
  "X-Operation-Id": {
    description: "Id of the operation; the first one when the request is repeated with its Idempotency-Key.",
    required: true,
    schema: { type: "string", format: "uuid" },
    example: AN_OPERATION,
  },
  "Idempotency-Replayed": {
    description: "The request was executed before with this Idempotency-Key; this is its result.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  "X-Possible-Duplicate-Of": {
    description: "Ticket of an identical deposit or withdrawal of this client within the last 24 hours.",
    schema: { type: "string", pattern: "^[0-9]+$" },
    example: "1234567",
  },
  "X-Held-Back": {
    description:
      "Part of the balance that is neither fee nor available, with the reason: external funds that this service did not book await a review. Missing when there is none. A structured field (RFC 9651).",
    schema: { type: "string", pattern: "^[0-9]+\\.[0-9]{2};currency=USD;reason=funds_under_review$" },
    example: "500.00;currency=USD;reason=funds_under_review",
  },
  "RateLimit-Policy": {
    description:
      "Requests of this kind (`read`, `money`, `create`) that the client of the key may send at once (`q`), and the seconds in which they come back (`w`). As in draft-ietf-httpapi-ratelimit-headers-10. In every answer to a valid key, problems included.",
    schema: { type: "string" },
    example: '"read";q=4000;w=2',
  },
  RateLimit: {
    description: "Requests of this kind that are left (`r`), and the seconds until all are back (`t`).",
    schema: { type: "string" },
    example: '"read";r=3999;t=1',
  },
  "X-Ignored-Fields": {
    description: "Names of query parameters and body members that were sent and are not known, percent-encoded.",
    schema: { type: "string" },
    example: "coment, stat%C3%BCs",
  },
  "X-Retroactive-Since": {
    description:
      "The version begins in the past: from this instant on, results that are not charged yet have its rate.",
    schema: { type: "string" },
    example: "2026-01-02T03:04:05.678000",
  },
  "Retry-After": {
    description: "Seconds after which the same request may succeed.",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
  "WWW-Authenticate": {
    description: "The kind of authentication that is needed.",
    required: true,
    schema: { type: "string" },
    example: 'Bearer realm="pamm"',
  },
  Allow: {
    description: "The methods that this path has.",
    required: true,
    schema: { type: "string" },
    example: "GET, PATCH, HEAD, OPTIONS",
  },
} as const satisfies Record<string, Header>;

export type AnswerHeader = keyof typeof ANSWER_HEADERS;

export function answerHeaders(names: readonly AnswerHeader[], components: Components): Json {
  return Object.fromEntries(
    names.map((name) => [name, components.refer("headers", name, name, () => ANSWER_HEADERS[name])]),
  );
}

/** Every request may have it. OpenAPI has no parameter for Accept, Authorization and Content-Type. */
const REQUEST_ID_PARAMETER = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description: "Id of your choice for the answer and the logs: 1 to 128 characters of `A-Z a-z 0-9 . _ -`.",
  schema: REQUEST_ID,
  example: A_REQUEST,
};

const IDEMPOTENCY_KEY_PARAMETER = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: `Makes the request safe to repeat: the same key with the same parameters is executed once and returns the same result for 30 days. 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters, unique for each request; a UUID is a good choice.`,
  schema: { type: "string", minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH, pattern: "^[!-~]+$" },
  example: "0198c0de-0000-7000-8000-00000000c0de",
};

export function requestHeaders(isCommand: boolean, components: Components): readonly Json[] {
  return [
    components.refer("parameters", "RequestId", "", () => REQUEST_ID_PARAMETER),
    ...(isCommand ? [components.refer("parameters", "IdempotencyKey", "", () => IDEMPOTENCY_KEY_PARAMETER)] : []),
  ];
}
