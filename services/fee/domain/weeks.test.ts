import { expect, test } from "vitest";
import { aVersion } from "../testing/a-version.ts";
import { earn, NOTHING_EARNED } from "./layers.ts";
import { decideWeek, type WeekPair } from "./weeks.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const WEEK = { masterLogin: "5001", periodStart: day(3), cutOff: day(10), markedAt: undefined };
const enabled = aVersion(day(1));

function aPair(parts: Partial<WeekPair>): WeekPair {
  const earnings = earn(NOTHING_EARNED, [{ amount: 100_00n, earnedAt: day(5) }]);
  return { investorLogin: "9001", earnings, versions: [enabled], debts: [], floating: 0n, ...parts };
}

const dueOf = (pair: WeekPair) =>
  decideWeek(WEEK, [pair])[0]!.due.map(({ kind, masterLogin, amount, since }) => ({
    kind,
    masterLogin,
    amount,
    since,
  }));

test("debts come first, oldest first, each to its own Master, and the fee last", () => {
  const debts = [
    { masterLogin: "5001", amount: 3n, since: day(4) },
    { masterLogin: "5003", amount: 2n, since: day(2) },
    { masterLogin: "5002", amount: 1n, since: day(2) },
  ];
  expect(dueOf(aPair({ debts }))).toEqual([
    { kind: "PF_DEBT", masterLogin: "5002", amount: 1n, since: day(2) },
    { kind: "PF_DEBT", masterLogin: "5003", amount: 2n, since: day(2) },
    { kind: "PF_DEBT", masterLogin: "5001", amount: 3n, since: day(4) },
    { kind: "PF", masterLogin: "5001", amount: 30_00n, since: day(10) },
  ]);
});

test("an Investor whose fee is disabled at the cut-off pays neither fees nor debts, and earnings do not change", () => {
  const off = aVersion(day(9), { enabled: false });
  const pair = aPair({ versions: [enabled, off], debts: [{ masterLogin: "5001", amount: 3n, since: day(4) }] });
  expect(decideWeek(WEEK, [pair])).toEqual([{ investorLogin: "9001", earnings: pair.earnings, due: [] }]);
});

test("a fee that is disabled after the cut-off is due for the week, whenever the week is decided", () => {
  const off = aVersion(day(11), { enabled: false });
  expect(dueOf(aPair({ versions: [enabled, off] }))).toMatchObject([{ amount: 30_00n }]);
});

test("a debt is due without a new fee, and without earnings and debts nothing is due", () => {
  const debts = [{ masterLogin: "5002", amount: 7n, since: day(2) }];
  expect(dueOf(aPair({ earnings: NOTHING_EARNED, debts }))).toMatchObject([{ kind: "PF_DEBT", amount: 7n }]);
  expect(dueOf(aPair({ earnings: NOTHING_EARNED }))).toEqual([]);
  expect(dueOf(aPair({ versions: [] }))).toEqual([]);
});
