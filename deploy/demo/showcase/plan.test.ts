import { expect, test } from "vitest";
import { type Character, CHARACTERS } from "./characters.ts";
import { actsOf, closingWeek, resultOf, YEAR } from "./plan.ts";

const [harbour, ridge, spark] = CHARACTERS as readonly [Character, Character, Character];

/** What 100.00 become in each week without deposits and fees, in cents. */
function courseOf(character: Character): bigint[] {
  let balance = 1_000_000_00n;
  const last = closingWeek(character, YEAR) ?? YEAR.weeks - 1;
  return Array.from({ length: last + 1 }, (_, week) => (balance += resultOf(character, week, YEAR, balance)));
}

/** The deepest fall from a highest value before it, in percent. */
function drawdownOf(course: readonly bigint[]): number {
  let highest = 0n;
  return Math.max(
    ...course.map((value) => {
      highest = value > highest ? value : highest;
      return Number(((highest - value) * 10_000n) / highest) / 100;
    }),
  );
}

test("one Master is steady, one has a deep drawdown and recovers, and one loses and is closed", () => {
  const [calm, deep, lost] = [courseOf(harbour), courseOf(ridge), courseOf(spark)];
  expect(calm.at(-1)).toBeGreaterThan(1_150_000_00n);
  expect(drawdownOf(calm)).toBeLessThan(1);
  expect(drawdownOf(deep)).toBeGreaterThan(15);
  expect(deep.at(-1)).toBe(deep.reduce((one, other) => (one > other ? one : other)));
  expect(lost.at(-1)).toBeLessThan(1_000_000_00n);
  expect([harbour, ridge, spark].map((one) => closingWeek(one, YEAR))).toEqual([undefined, undefined, 40]);
});

test("a dozen Investors of each Master join, top up, withdraw and leave, each joining first", () => {
  for (const character of CHARACTERS) {
    const acts = actsOf(character, YEAR);
    for (let investor = 0; investor < YEAR.investors; investor += 1) {
      const own = acts.filter((act) => act.investor === investor);
      expect(own[0]?.kind).toBe("join");
      expect(
        own.every(({ week }) => week >= (own[0]?.week ?? 0) && week < (closingWeek(character, YEAR) ?? YEAR.weeks)),
      ).toBe(true);
      expect(own.findIndex(({ kind }) => kind === "leave")).toBeOneOf([-1, own.length - 1]);
    }
    expect(new Set(acts.map(({ kind }) => kind))).toEqual(new Set(["join", "top_up", "withdraw", "leave"]));
    expect(acts.filter(({ kind, week }) => kind === "join" && week === 0)).toHaveLength(6);
  }
});

test("a short showcase has the same parts", () => {
  const size = { weeks: 4, investors: 3 };
  expect(actsOf(ridge, size).map(({ kind, investor, week }) => `${week} ${kind} ${investor}`)).toEqual([
    "0 join 0",
    "0 join 1",
    "0 join 2",
    "1 top_up 1",
    "2 withdraw 0",
    "2 top_up 2",
    "2 withdraw 1",
  ]);
  expect(closingWeek(spark, size)).toBe(3);
});
