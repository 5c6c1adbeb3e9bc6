import { expect, test } from "vitest";
import { termsFrom } from "../../testing/worked-example.ts";
import { decideDue, type DueFacts, explainDue } from "./due.ts";
import { type Explanation, MAX_EXPLAINED_LAYERS } from "./explain.ts";
import { earn, NOTHING_EARNED, type Part } from "./layers.ts";
import type { Terms, TermsStep } from "./terms.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const iso = (number: number): string => day(number).toISOString();
const part = (amount: bigint, number: number): Part => ({ amount, earnedAt: day(number) });

/** Terms from the fourth on, with further steps. */
function terms(parts: Partial<TermsStep>, ...later: readonly Partial<TermsStep>[]): Terms {
  const first = termsFrom(day(4), parts);
  return [...first, ...later.map((step) => ({ ...first[1]!, ...step }))];
}

function factsOf(facts: Partial<DueFacts>): DueFacts {
  const whole = { masterLogin: "5001", earnings: NOTHING_EARNED, terms: [], debts: [], floating: 0n, at: day(10) };
  return { markedAt: undefined, ...whole, ...facts };
}

const explanationOf = (facts: Partial<DueFacts>): Explanation => decideDue(factsOf(facts)).due.at(-1)!.explanation!;

test("an explanation has each layer with its rate and version, without the layers that a loss consumed", () => {
  const two = earn(NOTHING_EARNED, [part(1_000_00n, 5), part(500_00n, 8)]);
  const own = terms({ versionId: 16n, ratePpm: 200_000 }, { from: day(7), versionId: 17n, ratePpm: 300_000 });
  const first = { earnedFrom: iso(5), earnedTo: iso(5), rate: "0.200000", version: "16" };
  expect(explanationOf({ earnings: two, terms: own })).toMatchObject({
    earned: "1500.00",
    markBefore: "0.00",
    markAfter: "1500.00",
    exactFee: "350.00",
    fee: "350.00",
    charged: [
      {
        ...first,
        amount: "1000.00",
        share: "200.00",
      },
      {
        amount: "500.00",
        earnedFrom: iso(8),
        earnedTo: iso(8),
        rate: "0.300000",
        share: "150.00",
        version: "17",
      },
    ],
    spared: [],
  });
  expect(explanationOf({ earnings: earn(two, [part(-700_00n, 9)]), terms: own })).toMatchObject({
    markAfter: "800.00",
    fee: "160.00",
    charged: [{ ...first, amount: "800.00", share: "160.00" }],
  });
});

test("an explanation has exact values, the rounding, the debt and the fee before", () => {
  const debts = [{ masterLogin: "5002", amount: 1_50n, since: day(1) }];
  const { due } = decideDue(
    factsOf({
      earnings: earn(NOTHING_EARNED, [part(421_37n, 5)]),
      terms: terms({ ratePpm: 275_000 }),
      debts,
      throughNumber: 7n,
      since: day(3),
    }),
  );
  expect(due.map(({ kind, amount, masterLogin }) => [kind, amount, masterLogin])).toEqual([
    ["PF_DEBT", 1_50n, "5002"],
    ["PF", 115_87n, "5001"],
  ]);
  expect(due.map(({ explanation }) => explanation)).toMatchObject([
    undefined,
    {
      at: iso(10),
      earned: "421.37",
      markBefore: "0.00",
      markAfter: "421.37",
      floating: "0.00",
      markedAt: undefined,
      debtBefore: "1.50",
      exactFee: "115.87675",
      fee: "115.87",
      throughNumber: "7",
      since: iso(3),
    },
  ]);
});

test("results with the same version are one layer of the explanation, and equal rates of two versions are two", () => {
  const earnings = earn(NOTHING_EARNED, [part(10_00n, 5), part(20_00n, 6), part(30_00n, 7)]);
  const own = terms({ versionId: 16n }, { from: day(7), versionId: 17n });
  expect(explanationOf({ earnings, terms: own }).charged).toMatchObject([
    { amount: "30.00", earnedFrom: iso(5), earnedTo: iso(6), version: "16" },
    { amount: "30.00", earnedFrom: iso(7), earnedTo: iso(7), version: "17" },
  ]);
});

test("a fee below one cent is explained, and no mark rises; while the switch is off there is no fee to explain", () => {
  const facts = factsOf({ earnings: earn(NOTHING_EARNED, [part(3n, 5)]), terms: terms({}) });
  expect(decideDue(facts).due).toEqual([]);
  expect(explainDue(facts)).toMatchObject({ exactFee: "0.009", fee: "0.00", markAfter: "0.00" });
  expect(explainDue({ ...facts, terms: terms({ enabled: false, ratePpm: 0 }) })).toBeUndefined();
});

test("the oldest of very many layers are one item without a rate, and the sums stay", () => {
  const changes = MAX_EXPLAINED_LAYERS + 5;
  const own = Array.from({ length: changes }, (_, place) => ({
    from: day(place + 1),
    ratePpm: 100_000 + place,
    enabled: true,
    versionId: BigInt(place + 1),
  }));
  const parts = Array.from({ length: changes }, (_, place) => part(10_00n, place + 1));
  const { charged } = explanationOf({ earnings: earn(NOTHING_EARNED, parts), terms: own, at: day(200) });
  expect(charged).toHaveLength(MAX_EXPLAINED_LAYERS);
  const summed = { amount: "60.00", earnedFrom: iso(1), earnedTo: iso(6), share: "6.00015" };
  expect(charged[0]).toEqual({ ...summed, version: undefined });
});
