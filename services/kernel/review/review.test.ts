import { expect, test } from "vitest";
import {
  hear,
  type ReviewEvent,
  possibleActions,
  type Progress,
  progressAfter,
  type Word,
  WITHDRAW_PROPOSAL,
} from "./review.ts";

const AT = new Date("2026-11-22T10:00:00Z");
const ACTIONS = ["reverse", "confirm_applied"];
const OPEN: Progress = { state: "OPEN" };

function aWord(over: Partial<Word> = {}): Word {
  return { action: "confirm_applied", dealId: 77n, note: "seen in the terminal", actor: "anna", at: AT, ...over };
}

const PROPOSED = hear(OPEN, ACTIONS, aWord()).progress;
const DECIDED = hear(PROPOSED, ACTIONS, aWord({ actor: "boris", note: "so do I" })).progress;

test("one key proposes, another key says the same, and it is decided", () => {
  expect(PROPOSED).toEqual({
    state: "PROPOSED",
    proposal: {
      action: "confirm_applied",
      dealId: 77n,
      note: "seen in the terminal",
      proposedBy: "anna",
      proposedAt: AT,
    },
  });
  expect(DECIDED).toEqual({
    state: "DECIDED",
    decision: {
      action: "confirm_applied",
      dealId: 77n,
      note: "seen in the terminal",
      proposedBy: "anna",
      proposedAt: AT,
      confirmedNote: "so do I",
      confirmedBy: "boris",
      confirmedAt: AT,
    },
  });
});

test("nobody confirms the own proposal", () => {
  expect(() => hear(PROPOSED, ACTIONS, aWord())).toThrow(expect.objectContaining({ code: "second_approver_required" }));
});

test.each([
  ["another action", aWord({ actor: "boris", action: "reverse" })],
  ["another deal", aWord({ actor: "boris", dealId: 78n })],
  ["another action by the same key", aWord({ action: "reverse" })],
])("%s than the proposed one is refused, and the refusal names what is proposed", (_what, word) => {
  expect(() => hear(PROPOSED, ACTIONS, word)).toThrow(
    expect.objectContaining({
      code: "decision_differs",
      details: { proposed_action: "confirm_applied", proposed_deal_id: "77", proposed_by: "anna" },
    }),
  );
});

test.each(["anna", "boris"])("a proposal is taken back by any key: %s", (actor) => {
  expect(hear(PROPOSED, ACTIONS, aWord({ action: WITHDRAW_PROPOSAL, actor }))).toEqual({
    word: "WITHDRAWN",
    progress: OPEN,
  });
});

test("what cannot be decided here is refused with what can", () => {
  expect(() => hear(OPEN, ACTIONS, aWord({ action: "adopt" }))).toThrow(
    expect.objectContaining({ code: "action_not_possible", details: { actions: "reverse, confirm_applied" } }),
  );
  expect(() => hear(OPEN, ACTIONS, aWord({ action: WITHDRAW_PROPOSAL }))).toThrow(
    expect.objectContaining({ code: "action_not_possible" }),
  );
});

test.each([["decided", DECIDED] as const, ["gone", { state: "GONE" } as const] as const])(
  "nothing is said any more about a case that is %s",
  (_state, progress) => {
    for (const action of [...ACTIONS, WITHDRAW_PROPOSAL]) {
      expect(() => hear(progress, ACTIONS, aWord({ actor: "carol", action }))).toThrow(
        expect.objectContaining({ code: "review_decided" }),
      );
    }
  },
);

test("what may be said now follows from how far it is", () => {
  expect(possibleActions(OPEN, ACTIONS)).toEqual(ACTIONS);
  expect(possibleActions(PROPOSED, ACTIONS)).toEqual(["confirm_applied", WITHDRAW_PROPOSAL]);
  expect(possibleActions(DECIDED, ACTIONS)).toEqual([]);
});

test("what was said tells how far people had come, word by word", () => {
  const kept = (word: ReviewEvent["word"], over: Partial<Word> = {}): ReviewEvent => ({ ...aWord(over), word });
  const confirmed = kept("CONFIRMED", { actor: "boris", note: "so do I" });
  expect(progressAfter([])).toEqual(OPEN);
  expect(progressAfter([kept("PROPOSED")])).toEqual(PROPOSED);
  expect(progressAfter([kept("PROPOSED"), confirmed])).toEqual(DECIDED);
  expect(progressAfter([kept("PROPOSED"), kept("WITHDRAWN")])).toEqual(OPEN);
  const late = [kept("PROPOSED", { action: "reverse" }), kept("VOIDED", { actor: "" }), kept("PROPOSED"), confirmed];
  expect(progressAfter(late)).toEqual(DECIDED);
});
