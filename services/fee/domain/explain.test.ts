import { expect, test } from "vitest";
import { decideDue, type DueFacts } from "./due.ts";
import { aVersion } from "../testing/a-version.ts";
import { explainDebt } from "./explain.ts";
import { earn, NOTHING_EARNED, type Part } from "./layers.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const part = (amount: bigint, number: number): Part => ({ amount, earnedAt: day(number) });

function dueOf(facts: Partial<DueFacts>) {
  const whole = { masterLogin: "5001", earnings: NOTHING_EARNED, versions: [], debts: [], floating: 0n, at: day(10) };
  return decideDue({ markedAt: undefined, ...whole, ...facts }).due;
}

const linesOf = (facts: Partial<DueFacts>): readonly string[] => dueOf(facts).at(-1)!.explanation.lines;

test("an explanation lists each layer with its rate, without the layers that a loss consumed", () => {
  const versions = [aVersion(day(4), { ratePpm: 200_000 }), aVersion(day(7))];
  const two = earn(NOTHING_EARNED, [part(1_000_00n, 5), part(500_00n, 8)]);
  expect(linesOf({ earnings: two, versions })).toEqual([
    "At 2026-01-10T00:00:00.000Z: result 1500.00, high-water mark 0.00, profit above it 1500.00",
    "1000.00 earned 2026-01-05T00:00:00.000Z x 0.200000 = 200.00",
    "500.00 earned 2026-01-08T00:00:00.000Z x 0.300000 = 150.00",
    "Sum 350.00, rounded down to the cent: fee 350.00",
    "High-water mark afterwards 1500.00",
  ]);
  expect(linesOf({ earnings: earn(two, [part(-700_00n, 9)]), versions })).toEqual([
    "At 2026-01-10T00:00:00.000Z: result 800.00, high-water mark 0.00, profit above it 800.00",
    "800.00 earned 2026-01-05T00:00:00.000Z x 0.200000 = 160.00",
    "Sum 160.00, rounded down to the cent: fee 160.00",
    "High-water mark afterwards 800.00",
  ]);
});

test("an explanation lists the profit that an open loss protects as not charged", () => {
  const versions = [aVersion(day(4))];
  const earnings = earn(NOTHING_EARNED, [part(1_000_00n, 5)]);
  const open = { floating: -40_000_000_000n, markedAt: new Date("2026-01-10T00:00:03Z") };
  expect(linesOf({ earnings, versions, ...open })).toEqual([
    "At 2026-01-10T00:00:00.000Z: result 1000.00, high-water mark 0.00, profit above it 1000.00",
    "Open result at 2026-01-10T00:00:03.000Z: -400.00, taken from the profit that was earned last",
    "Not charged now: 400.00 earned 2026-01-05T00:00:00.000Z",
    "600.00 earned 2026-01-05T00:00:00.000Z x 0.300000 = 180.00",
    "Sum 180.00, rounded down to the cent: fee 180.00",
    "High-water mark afterwards 600.00",
  ]);
});

test("an explanation contains exact values and the previous debt", () => {
  const versions = [aVersion(day(4), { ratePpm: 275_000 })];
  const debts = [{ masterLogin: "5002", amount: 1_50n, since: day(1) }];
  const due = dueOf({ earnings: earn(NOTHING_EARNED, [part(421_37n, 5)]), versions, debts });
  expect(due.map(({ kind, amount, masterLogin }) => [kind, amount, masterLogin])).toEqual([
    ["PF_DEBT", 1_50n, "5002"],
    ["PF", 115_87n, "5001"],
  ]);
  expect(due[1]!.explanation).toEqual({
    lines: expect.arrayContaining(["Sum 115.87675, rounded down to the cent: fee 115.87"]),
    facts: {
      at: "2026-01-10T00:00:00.000Z",
      earned: "421.37",
      mark_before: "0.00",
      mark_after: "421.37",
      floating: "0.00",
      marked_at: null,
      debt_before: "1.50",
      exact_fee: "115.87675",
      rounding: "down",
      fee: "115.87",
    },
    charged: [
      {
        amount: "421.37",
        earnedFrom: "2026-01-05T00:00:00.000Z",
        earnedTo: "2026-01-05T00:00:00.000Z",
        rate: "0.275000",
        share: "115.87675",
      },
    ],
    spared: [],
  });
});

test("results with the same rate are one line of the explanation", () => {
  const versions = [aVersion(day(4))];
  const earnings = earn(NOTHING_EARNED, [part(10_00n, 5), part(20_00n, 6), part(30_00n, 7)]);
  expect(linesOf({ earnings, versions })).toContain(
    "60.00 earned 2026-01-05T00:00:00.000Z to 2026-01-07T00:00:00.000Z x 0.300000 = 18.00",
  );
});

test("the explanation of a debt contains its Master and its age", () => {
  expect(explainDebt({ masterLogin: "5002", amount: 12_34n, since: day(1), at: day(10) }).lines).toEqual([
    "Fees of Master 5002 that were due and could not be taken, the oldest since 2026-01-01T00:00:00.000Z: 12.34",
  ]);
});
