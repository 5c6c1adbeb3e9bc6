import { expect, test } from "vitest";
import { aVersion } from "../testing/a-version.ts";
import { decideDue, type DueFacts, explainDue } from "./due.ts";
import { type Explanation, MAX_EXPLAINED_LAYERS } from "./explain.ts";
import { calculationLines } from "./explanation-lines.ts";
import { calculationOf } from "./fee-calculation.ts";
import { earn, NOTHING_EARNED, type Part } from "./layers.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const part = (amount: bigint, number: number): Part => ({ amount, earnedAt: day(number) });

function factsOf(facts: Partial<DueFacts>): DueFacts {
  const whole = { masterLogin: "5001", earnings: NOTHING_EARNED, versions: [], debts: [], floating: 0n, at: day(10) };
  return { markedAt: undefined, ...whole, ...facts };
}

const dueOf = (facts: Partial<DueFacts>) => decideDue(factsOf(facts)).due;
const explanationOf = (facts: Partial<DueFacts>): Explanation => dueOf(facts).at(-1)!.explanation;
const linesOf = (facts: Partial<DueFacts>): readonly string[] => calculationLines(calculationOf(explanationOf(facts))!);

const FLOWS = "Deposits and withdrawals change neither the result nor the high-water mark.";

test("an explanation lists each layer with its rate and version, without the layers that a loss consumed", () => {
  const versions = [aVersion(day(4), { id: 16n, ratePpm: 200_000 }), aVersion(day(7), { id: 17n })];
  const two = earn(NOTHING_EARNED, [part(1_000_00n, 5), part(500_00n, 8)]);
  expect(linesOf({ earnings: two, versions })).toEqual([
    "As of 2026-01-10 00:00:00 UTC the result with this Master is 1500.00 since the first assign. Fees were charged up to 0.00, the high-water mark, so 1500.00 of profit is not charged yet.",
    FLOWS,
    "1000.00, earned 2026-01-05 00:00:00 UTC, at 20 % (fee version 16): 200.00.",
    "500.00, earned 2026-01-08 00:00:00 UTC, at 30 % (fee version 17): 150.00.",
    "Together the fee is 350.00.",
    "The high-water mark rises from 0.00 to 1500.00.",
  ]);
  expect(linesOf({ earnings: earn(two, [part(-700_00n, 9)]), versions }).slice(2)).toEqual([
    "800.00, earned 2026-01-05 00:00:00 UTC, at 20 % (fee version 16): 160.00.",
    "Together the fee is 160.00.",
    "The high-water mark rises from 0.00 to 800.00.",
  ]);
});

test("an explanation lists the profit that an open loss protects as not charged", () => {
  const versions = [aVersion(day(4))];
  const earnings = earn(NOTHING_EARNED, [part(1_000_00n, 5)]);
  const open = { floating: -40_000_000_000n, markedAt: new Date("2026-01-10T00:00:03Z") };
  expect(linesOf({ earnings, versions, ...open }).slice(2)).toEqual([
    "The share of the result of open positions is -400.00, marked at 2026-01-10 00:00:03 UTC: an open loss is taken from the profit that was earned last.",
    "Not charged now: 400.00, earned 2026-01-05 00:00:00 UTC.",
    "600.00, earned 2026-01-05 00:00:00 UTC, at 30 % (fee version 1): 180.00.",
    "Together the fee is 180.00.",
    "The high-water mark rises from 0.00 to 600.00.",
  ]);
  expect(linesOf({ earnings, versions, floating: 1_00n, markedAt: day(10) })[2]).toMatch(
    /an open profit raises no fee/,
  );
  const late = { ...open, markedAt: new Date("2026-01-11T02:03:04Z") };
  expect(linesOf({ earnings, versions, ...late })[2]).toContain(
    "marked at 2026-01-11 02:03:04 UTC, 26 h 3 min 4 s after the cut-off: an open loss",
  );
});

test("only marks that are more than a minute later than the cut-off are late", () => {
  const versions = [aVersion(day(4))];
  const earnings = earn(NOTHING_EARNED, [part(1_000_00n, 5)]);
  const lateOf = (markedAt: Date | undefined) =>
    calculationOf(dueOf({ earnings, versions, floating: 1n, markedAt })[0]!.explanation)?.markedLateMs;
  const after = (ms: number) => new Date(day(10).getTime() + ms);
  expect([undefined, after(-1), after(60_000), after(60_001)].map(lateOf)).toEqual([
    undefined,
    undefined,
    undefined,
    60_001n,
  ]);
});

test("an explanation contains exact values, the rounding and the previous debt", () => {
  const versions = [aVersion(day(4), { ratePpm: 275_000 })];
  const debts = [{ masterLogin: "5002", amount: 1_50n, since: day(1) }];
  const facts = { earnings: earn(NOTHING_EARNED, [part(421_37n, 5)]), versions, debts, throughNumber: 7n };
  const due = dueOf(facts);
  expect(due.map(({ kind, amount, masterLogin }) => [kind, amount, masterLogin])).toEqual([
    ["PF_DEBT", 1_50n, "5002"],
    ["PF", 115_87n, "5001"],
  ]);
  expect(calculationOf(due[1]!.explanation)).toEqual({
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
    since: undefined,
    throughNumber: 7n,
  });
  expect(linesOf(facts).at(-2)).toBe(
    "Together the exact fee is 115.87675. It is rounded down once, by 0.00675, to 115.87.",
  );
});

test("results with the same version are one layer of the explanation, and equal rates of two versions are two", () => {
  const versions = [aVersion(day(4), { id: 16n }), aVersion(day(7), { id: 17n })];
  const earnings = earn(NOTHING_EARNED, [part(10_00n, 5), part(20_00n, 6), part(30_00n, 7)]);
  expect(linesOf({ earnings, versions })).toEqual(
    expect.arrayContaining([
      "30.00, earned from 2026-01-05 00:00:00 UTC to 2026-01-06 00:00:00 UTC, at 30 % (fee version 16): 9.00.",
      "30.00, earned 2026-01-07 00:00:00 UTC, at 30 % (fee version 17): 9.00.",
    ]),
  );
});

test("a fee below one cent is explained, and no mark rises", () => {
  const facts = factsOf({ earnings: earn(NOTHING_EARNED, [part(3n, 5)]), versions: [aVersion(day(4))] });
  expect(decideDue(facts).due).toEqual([]);
  expect(calculationOf(explainDue(facts)!)).toMatchObject({ exactFee: "0.009", fee: "0.00", markAfter: "0.00" });
  expect(calculationLines(calculationOf(explainDue(facts)!)!).slice(-2)).toEqual([
    "Together the exact fee is 0.009. It is rounded down once, by 0.009, to 0.00.",
    "The high-water mark stays at 0.00.",
  ]);
  expect(explainDue({ ...facts, versions: [aVersion(day(4), { enabled: false })] })).toBeUndefined();
});

test("the oldest of very many layers are one item without a rate, and the sums stay", () => {
  const changes = MAX_EXPLAINED_LAYERS + 5;
  const versions = Array.from({ length: changes }, (_, place) =>
    aVersion(day(place + 1), { id: BigInt(place + 1), ratePpm: 100_000 + place }),
  );
  const parts = Array.from({ length: changes }, (_, place) => part(10_00n, place + 1));
  const calculation = calculationOf(explanationOf({ earnings: earn(NOTHING_EARNED, parts), versions, at: day(200) }))!;
  expect(calculation.charged).toHaveLength(MAX_EXPLAINED_LAYERS);
  expect(calculation.charged[0]).toEqual({
    amount: "60.00",
    earnedFrom: day(1),
    earnedTo: day(6),
    rate: undefined,
    versionId: undefined,
    share: "6.00015",
  });
  expect(calculationLines(calculation)[2]).toBe(
    "60.00, earned from 2026-01-01 00:00:00 UTC to 2026-01-06 00:00:00 UTC, at the rates of that time: 6.00015.",
  );
});

test("a calculation whose parts do not add up is not shown", () => {
  const stored = explanationOf({ earnings: earn(NOTHING_EARNED, [part(10_00n, 5)]), versions: [aVersion(day(4))] });
  const [layer] = stored.charged;
  const changed = (facts: Record<string, string>) => ({ ...stored, facts: { ...stored.facts, ...facts } });
  expect(calculationOf(stored)).toBeDefined();
  expect(calculationOf({ ...stored, charged: [] })).toBeUndefined();
  expect(calculationOf({ ...stored, charged: [{ ...layer!, amount: "9.99" }] })).toBeUndefined();
  expect(calculationOf({ ...stored, charged: [{ ...layer!, share: "2.99" }] })).toBeUndefined();
  expect(calculationOf(changed({ fee: "2.99" }))).toBeUndefined();
  expect(calculationOf(changed({ mark_after: "9.00" }))).toBeUndefined();
  expect(calculationOf({ ...stored, facts: {} })).toBeUndefined();
});
