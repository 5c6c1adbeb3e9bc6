import { expect, test } from "vitest";
import type { Leg } from "./leg.ts";
import { reviewActions } from "./review-actions.ts";

const kept = { kind: "deposit", attempt: 1, absences: 0, state: "REVIEW" } as const;

test.each<[string, Leg, readonly string[]]>([
  [
    "may have been applied",
    { ...kept, reason: "candidate_deal", cameFrom: "UNKNOWN" },
    ["confirm_applied", "confirm_not_applied"],
  ],
  ["has no attempt left", { ...kept, reason: "attempts_exhausted", cameFrom: "INTENT" }, ["confirm_not_applied"]],
  ["was reported as refused", { ...kept, reason: "deal_after_refusal", cameFrom: "REFUSED" }, ["confirm_not_applied"]],
  ["has the deal of another", { ...kept, reason: "ticket_conflict", cameFrom: "APPLIED" }, ["reverse", "acknowledge"]],
])("the actions on a leg that %s cannot change its reported result", (_what, leg, actions) => {
  if (leg.state !== "REVIEW") throw new Error("the leg is not in manual review");
  expect(reviewActions(leg.reason, leg)).toEqual(actions);
});

test("unrequested money may be reversed, the log of a changed history may be corrected, and external funds have no action in this service", () => {
  const applied: Leg = { ...kept, state: "APPLIED", ticket: 7n };
  for (const reason of [
    "unmatched_deal",
    "unknown_reference",
    "misplaced_reference",
    "reversal_refused",
    "debit_without_credit",
  ] as const) {
    expect(reviewActions(reason, applied)).toEqual(["reverse", "acknowledge"]);
  }
  expect(reviewActions("history_changed", undefined)).toEqual(["correct_log", "acknowledge"]);
  expect(reviewActions("external_funds", undefined)).toEqual([]);
});

test("a second finding about a leg in manual review does not decide the leg", () => {
  const reviewed: Leg = { ...kept, reason: "candidate_deal", cameFrom: "UNKNOWN" };
  expect(reviewActions("unmatched_deal", reviewed)).toEqual(["reverse", "acknowledge"]);
  expect(reviewActions("account_not_shown", reviewed)).toEqual(["acknowledge"]);
});

test("a leg whose attempts still fail can be attempted at once, or ended", () => {
  const waiting: Leg = { kind: "fee_credit", attempt: 7, absences: 7, state: "INTENT" };
  expect(reviewActions("still_not_applied", waiting)).toEqual(["retry", "confirm_not_applied"]);
});

test("a leg of unknown outcome that cannot be scanned can be ended, and is never sent again by a decision", () => {
  const unknown: Leg = { kind: "deposit", attempt: 1, absences: 0, state: "UNKNOWN" };
  expect(reviewActions("still_unknown", unknown)).toEqual(["confirm_applied", "confirm_not_applied"]);
});
