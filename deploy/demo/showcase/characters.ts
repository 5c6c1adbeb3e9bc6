import type { Person } from "../provision.ts";

/** A Master of the showcase. Results are basis points of the Master's balance. */
export type Character = {
  readonly person: Person;
  readonly strategyName: string;
  readonly strategy: string;
  readonly familyName: string;
  /** Of the weeks of the year, with the share of the year that has passed, from 0 to 1. */
  readonly resultOf: (week: number, passed: number) => number;
  /** The share of the year after which the Master is closed. */
  readonly closesAfter?: number;
};

const CALM = [42, 31, 55, -12, 38, 47, 26, 61, -18, 44, 35, 29, 52];
const RISING = [90, 60, 120, -40, 80, 105, -25];
const FALLING = [-410, -260, 60, -480, -330, -150, -390, 45, -290];
const RECOVERING = [140, 170, -30, 210, 120, 95];
const NERVOUS = [180, -220, 90, -140, 260, -310, 40];
const SINKING = [-150, 30, -210, -90, 60];

const DRAWDOWN_BEGINS = 0.3;
const RECOVERY_BEGINS = 0.46;
const DECLINE_BEGINS = 0.5;
const CLOSES_AFTER = 0.77;

export const CHARACTERS: readonly Character[] = [
  {
    person: { firstName: "Alma", lastName: "Berg" },
    strategyName: "Harbour",
    strategy: "Carry on majors, small positions, closed before the weekend",
    familyName: "Lind",
    resultOf: (week) => at(CALM, week),
  },
  {
    person: { firstName: "Tomas", lastName: "Reyes" },
    strategyName: "Ridge",
    strategy: "Trend following on majors; drawdowns of a quarter are expected",
    familyName: "Osei",
    resultOf(week, passed) {
      if (passed < DRAWDOWN_BEGINS) return at(RISING, week);
      return at(passed < RECOVERY_BEGINS ? FALLING : RECOVERING, week);
    },
  },
  {
    person: { firstName: "Kira", lastName: "Novak" },
    strategyName: "Spark",
    strategy: "News trading with high leverage",
    familyName: "Marin",
    resultOf: (week, passed) => at(passed < DECLINE_BEGINS ? NERVOUS : SINKING, week),
    closesAfter: CLOSES_AFTER,
  },
];

/** First names of the Investors of a Master, with the capital that each begins with, in whole dollars. */
export const INVESTORS = [
  ["Ada", 25_000],
  ["Ben", 12_000],
  ["Cleo", 8_500],
  ["Dara", 40_000],
  ["Emil", 5_000],
  ["Fay", 15_000],
  ["Goran", 10_000],
  ["Hana", 3_000],
  ["Ivo", 60_000],
  ["June", 7_500],
  ["Kenji", 20_000],
  ["Lena", 4_000],
] as const;

function at(values: readonly number[], week: number): number {
  return values[week % values.length] ?? 0;
}
