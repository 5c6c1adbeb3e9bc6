import { expect, test } from "vitest";
import type { JsonObject } from "./exact-json.ts";
import type { Exchange } from "./http.ts";
import { outcomeOf } from "./outcome.ts";

const answered = (status: number, body: JsonObject | string = {}): Exchange => ({
  kind: "answered",
  answer: { status, body, text: "", retryAfterMs: undefined },
});

test.each([
  ["an answer", answered(200), "done"],
  ["a connection that never was", { kind: "not_sent", why: "ECONNREFUSED" }, "not_executed"],
  ["a connection that was lost", { kind: "lost", why: "socket hang up" }, "unknown"],
  ["an outcome that the service does not know", answered(504, { outcome: "unknown" }), "unknown"],
  ["a gateway that answers by itself", answered(502, "<html>"), "unknown"],
  ["an error that says nothing of the outcome", answered(500, { code: "internal_error" }), "unknown"],
  ["a service that was not there", answered(503, { outcome: "not_executed", retryable: true }), "not_executed"],
  ["a busy account", answered(409, { code: "account_busy", retryable: true }), "not_executed"],
  ["too many requests", answered(429, { code: "rate_limited", retryable: true }), "not_executed"],
  ["a no of the platform", answered(502, { code: "platform_rejected", outcome: "not_executed" }), "refused"],
  ["a mistake of the caller", answered(422, { code: "validation_failed" }), "refused"],
  ["an equal one that is on its way", answered(409, { code: "operation_in_progress", retryable: false }), "unknown"],
  ["a conflict", answered(409, { code: "below_min_deposit", retryable: false }), "refused"],
] as const)("%s", (_what, exchange, kind) => {
  expect(outcomeOf(exchange).kind).toBe(kind);
});
