import { expect, test } from "vitest";
import { Refusal, type RefusalOutcome, type RefusalStatus } from "#kernel/values/refusal.ts";
import { type Intent, verdictOf, verdictOfFault } from "./http-status.ts";

type Row = readonly [
  code: string,
  status: RefusalStatus,
  outcome: RefusalOutcome | undefined,
  asCommand: string,
  asQuery: string,
];

function resultOf(code: string, status: RefusalStatus, outcome: RefusalOutcome | undefined, intent: Intent): string {
  const verdict = verdictOf(new Refusal({ code, status, message: "", outcome }), intent);
  return [verdict.status, verdict.code, verdict.outcome].filter((part) => part !== undefined).join(" ");
}

const ROWS: readonly Row[] = [
  ["master_not_found", "not_found", undefined, "404 master_not_found not_executed", "404 master_not_found"],
  ["investor_not_found", "not_found", undefined, "404 investor_not_found not_executed", "404 investor_not_found"],
  ["below_min_deposit", "conflict", "not_executed", "409 below_min_deposit not_executed", "409 below_min_deposit"],
  ["account_busy", "conflict", "not_executed", "409 account_busy not_executed", "409 account_busy"],
  ["operation_in_progress", "conflict", "unknown", "409 operation_in_progress unknown", "503 service_unavailable"],
  ["group_not_allowed", "invalid", undefined, "422 group_not_allowed not_executed", "422 group_not_allowed"],
  ["insufficient_funds", "conflict", "not_executed", "409 insufficient_funds not_executed", "409 insufficient_funds"],
  ["platform_rejected", "rejected", "not_executed", "502 platform_rejected not_executed", "502 platform_rejected"],
  [
    "platform_unavailable",
    "unavailable",
    "not_executed",
    "503 platform_unavailable not_executed",
    "503 platform_unavailable",
  ],
  ["safety_stop", "unavailable", undefined, "409 safety_stop not_executed", "409 safety_stop"],
  [
    "service_unavailable",
    "unavailable",
    "not_executed",
    "503 service_unavailable not_executed",
    "503 service_unavailable",
  ],
  [
    "deadline_exceeded",
    "unavailable",
    "not_executed",
    "503 service_unavailable not_executed",
    "503 service_unavailable",
  ],
  ["busy", "busy", "not_executed", "503 service_unavailable not_executed", "503 service_unavailable"],
  ["outcome_unknown", "unknown_outcome", "unknown", "504 outcome_unknown unknown", "503 service_unavailable"],
  ["platform_unavailable", "unavailable", "unknown", "504 outcome_unknown unknown", "503 service_unavailable"],
  ["internal", "internal", "unknown", "504 outcome_unknown unknown", "500 internal_error"],
  ["response_too_large", "internal", undefined, "504 outcome_unknown unknown", "500 internal_error"],
  ["internal", "internal", "not_executed", "500 internal_error not_executed", "500 internal_error"],
  ["malformed_request", "invalid", "not_executed", "500 internal_error not_executed", "500 internal_error"],
  ["request_too_large", "invalid", "not_executed", "413 body_too_large not_executed", "413 body_too_large"],
];

test.each(ROWS)("%s (%s, %s) is %s to a command and %s to a query", (...row) => {
  const [code, status, outcome, ...expected] = row;

  expect([resultOf(code, status, outcome, "command"), resultOf(code, status, outcome, "query")]).toEqual(expected);
});

test.each<[RefusalStatus, string]>([
  ["invalid", "422 validation_failed not_executed"],
  ["not_found", "500 internal_error not_executed"],
  ["conflict", "409 conflict not_executed"],
  ["unavailable", "503 service_unavailable not_executed"],
  ["rejected", "502 platform_rejected not_executed"],
  ["unknown_outcome", "504 outcome_unknown unknown"],
  ["forbidden", "500 internal_error not_executed"],
  ["busy", "503 service_unavailable not_executed"],
])("an internal code is reported by its status: %s", (status, expected) => {
  expect(resultOf("lock_not_owned", status, undefined, "command")).toBe(expected);
});

test("a fault is an internal error before a command was sent, and an unknown outcome afterwards", () => {
  expect([verdictOfFault("command", false), verdictOfFault("command", true), verdictOfFault("query", true)]).toEqual([
    { code: "internal_error", status: 500, outcome: "not_executed" },
    { code: "outcome_unknown", status: 504, outcome: "unknown" },
    { code: "internal_error", status: 500, outcome: undefined },
  ]);
});
