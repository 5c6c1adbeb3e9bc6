import { expect, test } from "vitest";
import { type EvidenceDeal, type Expected, judgeDeals } from "./evidence.ts";
import { legNumber } from "./leg-number.ts";
import { formatReference, platformComment } from "./reference.ts";

const SENT = Date.UTC(2026, 10, 21, 12);
const expected: Expected = {
  reference: { kind: "withdrawal", number: legNumber(77n), attempt: 2 },
  login: "3000001",
  amountMinor: -100_00n,
  permittedAtMs: SENT,
};
const comment = platformComment(expected.reference, "CRM-1");

const aDeal = (own: Partial<EvidenceDeal> = {}): EvidenceDeal => ({
  ticket: 500n,
  login: "3000001",
  amountMinor: -100_00n,
  isBalanceOperation: true,
  comment,
  atMs: SENT + 300,
  ...own,
});
const nothingExplained = () => false;
const judge = (...deals: EvidenceDeal[]) => judgeDeals(expected, deals, nothingExplained);

test("the exact reference on the same login with the same signed amount is a hit, also with a cut comment", () => {
  expect(judge(aDeal())).toEqual({ kind: "hit", ticket: 500n });
  expect(judge(aDeal({ comment: formatReference(expected.reference) }))).toEqual({ kind: "hit", ticket: 500n });
  expect(judge(aDeal({ comment: `${comment} [broker]` }), aDeal())).toEqual({ kind: "hit", ticket: 500n });
});

test("the time of a deal never decides about a hit, because server clocks and time zones are unreliable", () => {
  expect(judge(aDeal({ atMs: SENT - 86_400_000 }))).toEqual({ kind: "hit", ticket: 500n });
});

test("the reference with another amount, on another kind of deal, or on two deals, is sent to manual review", () => {
  expect(judge(aDeal({ amountMinor: 100_00n }))).toEqual({
    kind: "mismatch",
    reason: "amount_differs",
    tickets: [500n],
  });
  expect(judge(aDeal({ isBalanceOperation: false }))).toMatchObject({ reason: "not_a_balance_deal" });
  expect(judge(aDeal(), aDeal({ ticket: 501n }))).toMatchObject({ reason: "two_deals", tickets: [500n, 501n] });
});

test("a deal of another login is no evidence", () => {
  expect(judge(aDeal({ login: "3000002" }))).toEqual({ kind: "clean" });
  expect(judge(aDeal({ login: "3000002", comment: "" }))).toEqual({ kind: "clean" });
});

test("an unexplained balance deal of the same amount is a candidate, and neither hit nor clean", () => {
  expect(judge(aDeal({ comment: "" }))).toEqual({ kind: "candidates", tickets: [500n] });
  expect(judge(aDeal({ comment: comment.slice(0, 13) }))).toMatchObject({ kind: "candidates" });
  expect(judge(aDeal({ comment: `x${comment}` }))).toMatchObject({ kind: "candidates" });
});

test("a recorded deal, another amount, a trade, and a deal long before the send are no candidates", () => {
  expect(judgeDeals(expected, [aDeal({ comment: "" })], (ticket) => ticket === 500n)).toEqual({ kind: "clean" });
  expect(judge(aDeal({ comment: "", amountMinor: -100_01n }))).toEqual({ kind: "clean" });
  expect(judge(aDeal({ comment: "", isBalanceOperation: false }))).toEqual({ kind: "clean" });
  expect(judge(aDeal({ comment: "", atMs: SENT - 66 * 60_000 }))).toEqual({ kind: "clean" });
  expect(judge()).toEqual({ kind: "clean" });
});

test("a candidate may have a time more than an hour before its send, because the server's time zone may be misread", () => {
  const rewritten = aDeal({ comment: "", atMs: SENT - 64 * 60_000 });
  expect(judge(rewritten)).toEqual({ kind: "candidates", tickets: [500n] });
});

test("a deal of another leg of the service is recognised by its own reference", () => {
  const otherDeal = aDeal({ comment: platformComment({ ...expected.reference, number: legNumber(78n) }, "") });
  expect(judge(otherDeal)).toEqual({ kind: "clean" });
});

test.each([1, 3])(
  "a deal of attempt %i of the same leg is a candidate, whatever its amount, also when it is recorded",
  (attempt) => {
    const other = aDeal({ comment: platformComment({ ...expected.reference, attempt }, ""), amountMinor: -7n });
    expect(judgeDeals(expected, [other], () => true)).toEqual({ kind: "candidates", tickets: [500n] });
    expect(judge(other, aDeal({ ticket: 501n }))).toEqual({ kind: "hit", ticket: 501n });
  },
);
