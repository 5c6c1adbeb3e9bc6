import { expect, test } from "vitest";
import type { JsonObject } from "./exact-json.ts";
import type { Exchange } from "./http.ts";
import { outcomeOf } from "./outcome.ts";

const answered = (status: number, body: JsonObject | string = {}): Exchange => ({
  kind: "answered",
  answer: { status, body, text: "", retryAfterMs: undefined },
});

test.each([
  ["a success", "done", answered(200)],
  ["a connection that was refused", "not_executed", { kind: "not_sent", why: "ECONNREFUSED" }],
  ["a connection that was lost", "unknown", { kind: "lost", why: "socket hang up" }],
  ["an answer with an unknown outcome", "unknown", answered(504, { outcome: "unknown" })],
  ["an answer of a gateway", "unknown", answered(502, "<html>")],
  ["an error without an outcome", "unknown", answered(500, { code: "internal_error" })],
  ["an unavailable service", "not_executed", answered(503, { outcome: "not_executed", retryable: true })],
  ["a busy account", "not_executed", answered(409, { code: "account_busy", retryable: true })],
  ["a rate limit", "not_executed", answered(429, { code: "rate_limited", retryable: true })],
  ["a refusal of the platform", "refused", answered(502, { code: "platform_rejected", outcome: "not_executed" })],
  ["an invalid request of the caller", "refused", answered(422, { code: "validation_failed" })],
  ["a duplicate in progress", "unknown", answered(409, { code: "operation_in_progress", retryable: false })],
  ["a conflict", "refused", answered(409, { code: "below_min_deposit", retryable: false })],
] as const)("after %s the outcome is %s", (_what, kind, exchange) => {
  expect(outcomeOf(exchange).kind).toBe(kind);
});
