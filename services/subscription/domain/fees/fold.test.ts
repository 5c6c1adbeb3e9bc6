import fc from "fast-check";
import { expect, test } from "vitest";
import { E8_PER_CENT } from "../pool/unit-pool.ts";
import { crystallise } from "./crystallise.ts";
import { continueFold, type Fold, foldAgain, isDivided } from "./fold.ts";
import { earn, NOTHING_EARNED, type Part } from "./layers.ts";
import { rateAt, type Terms } from "./terms.ts";

const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 5, hour));

/** Terms that change at some hours. */
function termsOf(hours: readonly number[]): Terms {
  const steps = hours
    .toSorted((left, right) => left - right)
    .map((hour) => ({ from: at(hour), ratePpm: 10_000 * hour }));
  const first = { from: undefined, ratePpm: 0, enabled: true, versionId: 0n };
  return [first, ...steps.map((step, index) => ({ ...step, enabled: true, versionId: BigInt(index + 1) }))];
}

/** The last entry, from the first up to the folded one, after which the result was not above the mark. */
function startOf({ foldedNumber, earnings: { mark } }: Fold, parts: readonly Part[]) {
  let [earned, start] = [0n, { number: 0n, earned: 0n }];
  for (const [index, { amount }] of parts.slice(0, Number(foldedNumber)).entries()) {
    earned += amount;
    if (earned * E8_PER_CENT <= mark) start = { number: BigInt(index + 1), earned };
  }
  return start;
}

test("results that are added in steps, and again when the terms change in the past, are charged as if each had its own layer", () => {
  const hours = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 4 });
  const results = fc.array(fc.bigInt(-500_00n, 500_00n), { maxLength: 40 });
  const changes = fc.array(fc.record({ hours, through: fc.nat(40), isCharged: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(results, changes, (amounts, decisions) => {
      const parts = amounts.map((amount, hour) => ({ amount, earnedAt: at(hour) }));
      let fold: Fold = { foldedNumber: 0n, earnings: NOTHING_EARNED };
      for (const { hours: changed, through, isCharged } of decisions) {
        const terms = termsOf(changed);
        if (isDivided(fold, terms)) fold = foldAgain(fold, startOf(fold, parts));
        const end = Math.max(Number(fold.foldedNumber), Math.min(through, parts.length));
        const more = parts.slice(Number(fold.foldedNumber), end);
        fold = continueFold(fold, { parts: more, foldedNumber: BigInt(end) }, terms);
        expect(isDivided(fold, terms)).toBe(false);

        const facts = { floating: 0n, rateAt: (earnedAt: Date) => rateAt(terms, earnedAt) };
        const single = earn({ ...NOTHING_EARNED, mark: fold.earnings.mark }, parts.slice(0, end));
        const decided = crystallise(fold.earnings, facts);
        expect(decided.exact).toBe(crystallise(single, facts).exact);
        if (isCharged) fold = { ...fold, earnings: decided.after };
      }
    }),
  );
});
