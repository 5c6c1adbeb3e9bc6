import { expect, test } from "vitest";
import { termsFrom } from "../../testing/worked-example.ts";
import { decideDebts, decideDue, type DueFacts, lessPrepaid } from "./due.ts";
import { earn, NOTHING_EARNED } from "./layers.ts";
import type { Terms } from "./terms.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const enabled = termsFrom(day(1));
const switchedOff = (from: Date): Terms => [...enabled, { from, ratePpm: 0, enabled: false, versionId: 2n }];

function facts(parts: Partial<DueFacts>): DueFacts {
  const earnings = earn(NOTHING_EARNED, [{ amount: 100_00n, earnedAt: day(5) }]);
  const flat = { floating: 0n, markedAt: undefined };
  return { masterLogin: "5001", earnings, terms: enabled, debts: [], ...flat, at: day(10), ...parts };
}

const dueOf = (parts: Partial<DueFacts>) =>
  decideDue(facts(parts)).due.map(({ kind, masterLogin, amount, since }) => ({ kind, masterLogin, amount, since }));

test("debts come first, oldest first, each to its own Master, and the fee last", () => {
  const debts = [
    { masterLogin: "5001", amount: 3n, since: day(4) },
    { masterLogin: "5003", amount: 2n, since: day(2) },
    { masterLogin: "5002", amount: 1n, since: day(2) },
  ];
  expect(dueOf({ debts })).toEqual([
    { kind: "PF_DEBT", masterLogin: "5002", amount: 1n, since: day(2) },
    { kind: "PF_DEBT", masterLogin: "5003", amount: 2n, since: day(2) },
    { kind: "PF_DEBT", masterLogin: "5001", amount: 3n, since: day(4) },
    { kind: "PF", masterLogin: "5001", amount: 30_00n, since: day(10) },
  ]);
});

test("an Investor whose fee is disabled at the cut-off pays neither fees nor debts, and earnings do not change", () => {
  const owes = facts({ terms: switchedOff(day(9)), debts: [{ masterLogin: "5001", amount: 3n, since: day(4) }] });
  expect(decideDue(owes)).toEqual({ earnings: owes.earnings, due: [] });
  expect(decideDebts(owes)).toEqual([]);
});

test("a fee that is disabled after the cut-off is due for the week, whenever the week is decided", () => {
  expect(dueOf({ terms: switchedOff(day(11)) })).toMatchObject([{ amount: 30_00n }]);
});

test("a debt is due without a new fee, and without earnings and debts nothing is due", () => {
  const debts = [{ masterLogin: "5002", amount: 7n, since: day(2) }];
  expect(dueOf({ earnings: NOTHING_EARNED, debts })).toMatchObject([{ kind: "PF_DEBT", amount: 7n }]);
  expect(dueOf({ earnings: NOTHING_EARNED })).toEqual([]);
  expect(dueOf({ terms: [] })).toEqual([]);
});

test("money that was paid in advance covers the dues of its Master in their sequence", () => {
  const due = [
    { masterLogin: "5001", amount: 30n },
    { masterLogin: "5002", amount: 5n },
    { masterLogin: "5001", amount: 20n },
  ];
  expect(lessPrepaid(due, new Map())).toEqual([30n, 5n, 20n]);
  expect(lessPrepaid(due, new Map([["5001", 40n]]))).toEqual([0n, 5n, 10n]);
  expect(lessPrepaid(due, new Map([["5001", 900n]]))).toEqual([0n, 5n, 0n]);
});
