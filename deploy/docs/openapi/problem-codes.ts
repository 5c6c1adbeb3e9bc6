import { ANY_KEY } from "../../../services/edge/identity/keys/scopes.ts";
import type { ProblemCode } from "../../../services/edge/problems/problems.ts";
import { isCommand } from "../../../services/edge/http/request-state.ts";
import type { Route } from "../../../services/edge/http/route.ts";

const ANY_ROUTE: readonly ProblemCode[] = [
  "bad_request",
  "unauthorized",
  "method_not_allowed",
  "request_timeout",
  "url_too_long",
  "expectation_failed",
  "validation_failed",
  "rate_limited",
  "headers_too_large",
  "internal_error",
  "service_unavailable",
];
const WITH_BODY: readonly ProblemCode[] = ["malformed_json", "unsupported_media_type"];
const WITH_PATH: readonly ProblemCode[] = ["route_not_found"];
const COMMANDS: readonly ProblemCode[] = [
  "body_too_large",
  "idempotency_key_reused",
  "operation_in_progress",
  "conflict",
  "outcome_unknown",
];
/** A special code names the problem when no other field is wrong. */
const OF_FIELD: Readonly<Record<string, readonly ProblemCode[]>> = {
  cursor: ["invalid_cursor"],
  after: ["invalid_cursor"],
  amount: ["amount_precision"],
  min_deposit: ["amount_precision"],
  currency: ["currency_not_supported"],
};

/** Every code that a request to this route can be answered with. */
export function codesOf(route: Route): ReadonlySet<ProblemCode> {
  const fields = Object.keys({ ...route.params?.properties, ...route.query?.properties, ...route.body?.properties });
  return new Set([
    ...ANY_ROUTE,
    ...(route.scope === ANY_KEY ? [] : (["insufficient_scope"] as const)),
    ...(route.params === undefined ? [] : WITH_PATH),
    ...(route.body === undefined ? [] : WITH_BODY),
    ...fields.flatMap((field) => OF_FIELD[field] ?? []),
    ...route.refusals,
    ...(isCommand(route) ? COMMANDS : []),
  ]);
}
