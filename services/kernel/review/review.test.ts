import { expect, test } from "vitest";
import {
  applyVote,
  type ReviewEvent,
  possibleActions,
  type Progress,
  progressAfter,
  type Vote,
  WITHDRAW_PROPOSAL,
} from "./review.ts";

const AT = new Date("2026-11-22T10:00:00Z");
const ACTIONS = ["reverse", "confirm_applied"];
const OPEN: Progress = { state: "OPEN" };

function aVote(over: Partial<Vote> = {}): Vote {
  return {
    action: "confirm_applied",
    dealId: 77n,
    note: "seen in the terminal",
    actor: "anna",
    keyId: "KeyOfOneTest",
    at: AT,
    ...over,
  };
}

const PROPOSED = applyVote(OPEN, ACTIONS, aVote()).progress;
const DECIDED = applyVote(PROPOSED, ACTIONS, aVote({ actor: "boris", note: "so do I" })).progress;

test.each([
  ["the proposing key", aVote()],
  ["a key of the same owner, written in another way,", aVote({ actor: " Anna", keyId: "KeyOfOther01" })],
])("%s cannot confirm the proposal of anna", (_key, vote) => {
  expect(() => applyVote(PROPOSED, ACTIONS, vote)).toThrow(
    expect.objectContaining({ code: "second_approver_required" }),
  );
});

test.each([
  ["another action", aVote({ actor: "boris", action: "reverse" })],
  ["another deal", aVote({ actor: "boris", dealId: 78n })],
  ["another action by the same key", aVote({ action: "reverse" })],
])("%s than the proposed one is refused, and the refusal contains the proposal", (_what, vote) => {
  expect(() => applyVote(PROPOSED, ACTIONS, vote)).toThrow(
    expect.objectContaining({
      code: "decision_differs",
      details: { proposed_action: "confirm_applied", proposed_deal_id: "77", proposed_by: "anna" },
    }),
  );
});

test.each(["anna", "boris"])("any API key can withdraw a proposal: %s", (actor) => {
  expect(applyVote(PROPOSED, ACTIONS, aVote({ action: WITHDRAW_PROPOSAL, actor }))).toEqual({
    event: "WITHDRAWN",
    progress: OPEN,
  });
});

test("an action that the case does not allow is refused, and the refusal contains the allowed actions", () => {
  expect(() => applyVote(OPEN, ACTIONS, aVote({ action: "adopt" }))).toThrow(
    expect.objectContaining({ code: "action_not_possible", details: { actions: "reverse, confirm_applied" } }),
  );
  expect(() => applyVote(OPEN, ACTIONS, aVote({ action: WITHDRAW_PROPOSAL }))).toThrow(
    expect.objectContaining({ code: "action_not_possible" }),
  );
});

test.each([["decided", DECIDED] as const, ["obsolete", { state: "OBSOLETE" } as const] as const])(
  "a case that is %s accepts no more votes",
  (_state, progress) => {
    for (const action of [...ACTIONS, WITHDRAW_PROPOSAL]) {
      expect(() => applyVote(progress, ACTIONS, aVote({ actor: "carol", action }))).toThrow(
        expect.objectContaining({ code: "review_decided" }),
      );
    }
  },
);

test("the possible actions follow from the progress", () => {
  expect(possibleActions(OPEN, ACTIONS)).toEqual(ACTIONS);
  expect(possibleActions(PROPOSED, ACTIONS)).toEqual(["confirm_applied", WITHDRAW_PROPOSAL]);
  expect(possibleActions(DECIDED, ACTIONS)).toEqual([]);
});

test("the progress of a case follows from its events", () => {
  const anEvent = (event: ReviewEvent["event"], over: Partial<Vote> = {}): ReviewEvent => ({ ...aVote(over), event });
  const confirmed = anEvent("CONFIRMED", { actor: "boris", note: "so do I" });
  expect(progressAfter([])).toEqual(OPEN);
  expect(progressAfter([anEvent("PROPOSED")])).toEqual(PROPOSED);
  expect(progressAfter([anEvent("PROPOSED"), confirmed])).toEqual(DECIDED);
  expect(progressAfter([anEvent("PROPOSED"), anEvent("WITHDRAWN")])).toEqual(OPEN);
  const events = [
    anEvent("PROPOSED", { action: "reverse" }),
    anEvent("VOIDED", { actor: "" }),
    anEvent("PROPOSED"),
    confirmed,
  ];
  expect(progressAfter(events)).toEqual(DECIDED);
});
