import { expect, test } from "vitest";
import type { Operation } from "./operation.ts";
import { reviewActions } from "./review-actions.ts";

const kept = { kind: "deposit", attempt: 1, absences: 0, state: "REVIEW" } as const;

test.each<[string, Operation, readonly string[]]>([
  [
    "may have been applied",
    { ...kept, reason: "candidate_deal", cameFrom: "UNKNOWN" },
    ["confirm_applied", "confirm_not_applied"],
  ],
  ["has no attempt left", { ...kept, reason: "attempts_exhausted", cameFrom: "INTENT" }, ["confirm_not_applied"]],
  ["was told as refused", { ...kept, reason: "deal_after_refusal", cameFrom: "REFUSED" }, ["confirm_not_applied"]],
  ["lost its deal", { ...kept, reason: "applied_deal_gone", cameFrom: "APPLIED" }, ["acknowledge"]],
  ["has another deal", { ...kept, reason: "applied_deal_differs", cameFrom: "APPLIED" }, ["reverse", "acknowledge"]],
])("people can never say the opposite of what was told: an operation that %s", (_what, operation, actions) => {
  if (operation.state !== "REVIEW") throw new Error("this test is about reviews");
  expect(reviewActions(operation.reason, operation)).toEqual(actions);
});

test("money that nobody ordered may go back, other findings are seen, and foreign money is decided elsewhere", () => {
  const applied: Operation = { ...kept, state: "APPLIED", ticket: 7n };
  for (const reason of ["surplus_deal", "unknown_reference", "misplaced_reference", "reversal_refused"]) {
    expect(reviewActions(reason, applied)).toEqual(["reverse", "acknowledge"]);
  }
  expect(reviewActions("deal_cancelled", undefined)).toEqual(["acknowledge"]);
  expect(reviewActions("foreign_money", undefined)).toEqual([]);
});
