import { expect, test } from "vitest";
import { answerOf, type Attempt, groupAttempts } from "./group-attempts.ts";

const attempt = (own: Partial<Attempt>): Attempt => ({
  mt5_transfer_id: 1n,
  login: "3000003",
  kind: "fee_debit",
  amount: "-5.00",
  number: 1,
  reference: "A",
  comment: "A text",
  state: "applied",
  permitted_at: "2026-01-02T03:04:05.678000",
  permit_expires_at: "2026-01-02T03:04:10.678000",
  ended_at: null,
  answer_code: null,
  answer: null,
  deal_id: null,
  searches: 0,
  searched_at: null,
  ...own,
});
const leg = (reference: string | null) => ({
  login: "3000003",
  kind: "fee_debit" as const,
  amount: "-5.00",
  outcome: "executed" as const,
  deal_id: 7n,
  reference,
  applied_at: null,
  waits_for: null,
});

test("all attempts of a leg are found by the reference of its last one, and those of no leg are kept", () => {
  const [lost, last] = [attempt({}), attempt({ number: 2, reference: "B" })];
  const reversal = attempt({ kind: "reversal", reference: "C" });
  expect(groupAttempts([leg("B"), leg(null)], [lost, last, reversal])).toEqual({
    ofLegs: [[lost, last], []],
    others: [[reversal]],
  });
});

test.each([
  ["Return code 0.", { answer_code: 0n }],
  ["Return code 13.", { answer_code: 13n, state: "refused" }],
  ["Return code 0, which proves nothing: not shown.", { answer_code: 0n, answer: "not_shown" }],
  ["No answer: connection lost. The deal was found in the history.", { answer: "connection_lost", deal_id: 7n }],
  ["Nothing was sent: not permitted.", { answer: "not_permitted", state: "not_sent" }],
  ["Nothing yet.", { state: "sending" }],
] as const)("an attempt says: %s", (text, own) => {
  expect(answerOf(attempt(own))).toBe(text);
});
