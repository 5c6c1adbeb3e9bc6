import { expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { reasonsOf } from "./reasons.ts";

const SUMS = {
  platform_balance: "10",
  ledger_balance: "10",
  in_flight: "0",
  quarantined: "0",
  own_capital: "0",
  difference: "0.00",
};
const PROOF: Models["Proof"] = {
  master_login: "3000001",
  read_at: "2026-01-02T03:04:05.678000",
  converged: false,
  unredeemed: "0",
  fees_closed_through: null,
  waits: [],
  lag_ms: 0n,
  total: SUMS,
  master: { ...SUMS, mt5_login: "3000001", last_deal_id: 1n },
  investors: [{ ...SUMS, mt5_login: "3000003", last_deal_id: null }],
  investors_count: 2n,
  next_cursor: null,
  has_more: false,
};

test("a report that has converged has no reason", () => {
  expect(reasonsOf({ ...PROOF, converged: true })).toEqual([]);
});

test("movements that cancel out in the sum are a reason all the same", () => {
  const [first, ...others] = reasonsOf({ ...PROOF, master: { ...PROOF.master, in_flight: "-5" } });
  expect(first).toMatchObject({ href: "#/operations?master_login=3000001&outcome=pending" });
  expect(first?.text).toContain("in flight");
  expect(others).toEqual([]);
});

test("each place of a cent has a reason", () => {
  const total = { ...SUMS, quarantined: "1", difference: "-0.01" };
  const texts = reasonsOf({ ...PROOF, total, lag_ms: 1_500n, unredeemed: "0.05" }).map(({ text }) => text);
  expect(texts).toHaveLength(4);
});

test("money that waits for the market says what ends the wait", () => {
  const message = "390.00 USD is taken when the Master is flat.";
  const waits = [{ reason: "free_margin" as const, amount: "390", since: PROOF.read_at, message }];
  expect(reasonsOf({ ...PROOF, waits })[0]).toEqual({ text: message, href: undefined });
});

test("without a reason on this page there is one on another page", () => {
  expect(reasonsOf(PROOF).map(({ text }) => text)).toEqual(["An account further down the list has not converged."]);
});
