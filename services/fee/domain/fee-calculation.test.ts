import { expect, test } from "vitest";
import { anExplanation, type ExplainedFee } from "../testing/an-explanation.ts";
import { calculationLines } from "./explained-payment.ts";
import { feeFactsOf } from "../messages/calculation.ts";
import { calculationOf } from "./fee-calculation.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

/** A fee of 1,000.00 of profit at 30 %. */
function explained(parts: Partial<ExplainedFee> = {}) {
  const whole = { at: day(10), earned: 1_000_00n, charged: [{ amount: 1_000_00n, from: day(5) }], ...parts };
  return feeFactsOf(anExplanation(whole));
}

const linesOf = (parts?: Partial<ExplainedFee>) => calculationLines(calculationOf(explained(parts))!);

const FLOWS = "Deposits and withdrawals change neither the result nor the high-water mark.";

test("an explanation lists each layer with its rate and version", () => {
  const charged = [
    { amount: 1_000_00n, from: day(5), ratePpm: 200_000, version: 16n },
    { amount: 500_00n, from: day(7), to: day(8), version: 17n },
    { amount: 10_00n, from: day(9), ratePpm: 0, version: 0n },
  ];
  expect(linesOf({ earned: 1_510_00n, charged })).toEqual([
    "As of 2026-01-10 00:00:00 UTC the result with this Master is 1510.00 since the first assign. Fees were charged up to 0.00, the high-water mark, so 1510.00 of profit is not charged yet.",
    FLOWS,
    "1000.00, earned 2026-01-05 00:00:00 UTC, at 20 % (fee version 16): 200.00.",
    "500.00, earned from 2026-01-07 00:00:00 UTC to 2026-01-08 00:00:00 UTC, at 30 % (fee version 17): 150.00.",
    "10.00, earned 2026-01-09 00:00:00 UTC, at 0 %: 0.00.",
    "Together the fee is 350.00.",
    "The high-water mark rises from 0.00 to 1510.00.",
  ]);
});

test("an explanation lists the profit that an open loss protects as not charged", () => {
  const open = {
    floating: -400_00n,
    markedAt: new Date("2026-01-10T00:00:03Z"),
    charged: [{ amount: 600_00n, from: day(5) }],
    spared: [{ amount: 400_00n, from: day(5) }],
  };
  expect(linesOf(open).slice(2)).toEqual([
    "The share of the result of open positions is -400.00, marked at 2026-01-10 00:00:03 UTC: an open loss is taken from the profit that was earned last.",
    "Not charged now: 400.00, earned 2026-01-05 00:00:00 UTC.",
    "600.00, earned 2026-01-05 00:00:00 UTC, at 30 % (fee version 1): 180.00.",
    "Together the fee is 180.00.",
    "The high-water mark rises from 0.00 to 600.00.",
  ]);
  expect(linesOf({ floating: 1_00n, markedAt: day(10) })[2]).toMatch(/an open profit raises no fee/);
  expect(linesOf({ ...open, markedAt: new Date("2026-01-11T02:03:04Z") })[2]).toContain(
    "marked at 2026-01-11 02:03:04 UTC, 26 h 3 min 4 s after the cut-off: an open loss",
  );
});

test("only marks that are more than a minute later than the cut-off are late", () => {
  const lateOf = (markedAt: Date | undefined) => calculationOf(explained({ floating: 1n, markedAt }))?.markedLateMs;
  const after = (ms: number) => new Date(day(10).getTime() + ms);
  expect([undefined, after(-1), after(60_000), after(60_001)].map(lateOf)).toEqual([
    undefined,
    undefined,
    undefined,
    60_001n,
  ]);
});

test("a calculation has exact values, the rounding and the previous debt", () => {
  const charged = [{ amount: 421_37n, from: day(5), ratePpm: 275_000 }];
  const facts = { earned: 421_37n, charged, debt: 1_50n, through: 7n, since: day(3) };
  expect(calculationOf(explained(facts))).toEqual({
    at: day(10),
    earned: "421.37",
    markBefore: "0.00",
    markAfter: "421.37",
    floating: "0.00",
    markedAt: undefined,
    markedLateMs: undefined,
    debtBefore: "1.50",
    charged: [
      { amount: "421.37", earnedFrom: day(5), earnedTo: day(5), rate: "0.275000", share: "115.87675", versionId: 1n },
    ],
    spared: [],
    exactFee: "115.87675",
    roundedOff: "0.00675",
    fee: "115.87",
    since: day(3),
    throughNumber: 7n,
  });
  expect(linesOf(facts).at(-2)).toBe(
    "Together the exact fee is 115.87675. It is rounded down once, by 0.00675, to 115.87.",
  );
});

test("a fee below one cent is explained, and no mark rises", () => {
  const small = { earned: 3n, charged: [{ amount: 3n, from: day(5) }] };
  expect(calculationOf(explained(small))).toMatchObject({ exactFee: "0.009", fee: "0.00", markAfter: "0.00" });
  expect(linesOf(small).slice(-2)).toEqual([
    "Together the exact fee is 0.009. It is rounded down once, by 0.009, to 0.00.",
    "The high-water mark stays at 0.00.",
  ]);
});

test("a layer that is the sum of several rates has none", () => {
  const stored = explained();
  const [layer] = stored.charged;
  const calculation = calculationOf({ ...stored, charged: [{ ...layer!, rate: undefined, versionId: undefined }] })!;
  expect(calculation.charged[0]).toMatchObject({ rate: undefined, versionId: undefined });
  expect(calculationLines(calculation)[2]).toBe(
    "1000.00, earned 2026-01-05 00:00:00 UTC, at the rates of that time: 300.00.",
  );
});

test("a calculation whose parts do not add up is not shown", () => {
  const stored = explained();
  const [layer] = stored.charged;
  expect(calculationOf(stored)).toBeDefined();
  expect(calculationOf({ ...stored, charged: [] })).toBeUndefined();
  expect(calculationOf({ ...stored, charged: [{ ...layer!, amount: "999.99" }] })).toBeUndefined();
  expect(calculationOf({ ...stored, charged: [{ ...layer!, share: "299.99" }] })).toBeUndefined();
  expect(calculationOf({ ...stored, fee: "299.99" })).toBeUndefined();
  expect(calculationOf({ ...stored, markAfter: "900.00" })).toBeUndefined();
  expect(calculationOf({ ...stored, exactFee: "" })).toBeUndefined();
});
