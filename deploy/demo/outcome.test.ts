import { expect, test } from "vitest";
import type { JsonObject } from "./exact-json.ts";
import type { Exchange } from "./http.ts";
import { outcomeOf } from "./outcome.ts";

const answered = (status: number, body: JsonObject | string = {}): Exchange => ({
  kind: "answered",
  answer: { status, body, text: "", retryAfterMs: undefined },
});

test.each([
  ["a success", answered(200), "done"],
  ["a connection that was refused", { kind: "not_sent", why: "ECONNREFUSED" }, "not_executed"],
  ["a connection that was lost", { kind: "lost", why: "socket hang up" }, "unknown"],
  ["an unknown outcome", answered(504, { outcome: "unknown" }), "unknown"],
  ["an answer of a gateway", answered(502, "<html>"), "unknown"],
  ["an error without an outcome", answered(500, { code: "internal_error" }), "unknown"],
  ["an unavailable service", answered(503, { outcome: "not_executed", retryable: true }), "not_executed"],
  ["a busy account", answered(409, { code: "account_busy", retryable: true }), "not_executed"],
  ["too many requests", answered(429, { code: "rate_limited", retryable: true }), "not_executed"],
  ["a refusal of the platform", answered(502, { code: "platform_rejected", outcome: "not_executed" }), "refused"],
  ["an invalid request of the caller", answered(422, { code: "validation_failed" }), "refused"],
  ["a duplicate in progress", answered(409, { code: "operation_in_progress", retryable: false }), "unknown"],
  ["a conflict", answered(409, { code: "below_min_deposit", retryable: false }), "refused"],
] as const)("the outcome of %s", (_what, exchange, kind) => {
  expect(outcomeOf(exchange).kind).toBe(kind);
});
