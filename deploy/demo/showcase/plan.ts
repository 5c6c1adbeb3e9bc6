import { type Character, INVESTORS } from "./characters.ts";

export type Size = { readonly weeks: number; readonly investors: number };

export const YEAR: Size = { weeks: 52, investors: INVESTORS.length };

type Step =
  | { readonly kind: "join" }
  | { readonly kind: "top_up" | "withdraw"; readonly percent: bigint }
  | { readonly kind: "leave" };

/** What one Investor does in one week. */
export type Act = Step & { readonly week: number; readonly investor: number };

type Habit = { readonly step: Step; readonly passed: number; readonly does: (investor: number) => boolean };

/** The first half of the Investors is there from the beginning; the others come one after the other in the first months. */
const JOINED_BY = 0.42;
const HABITS: readonly Habit[] = [
  { step: { kind: "top_up", percent: 20n }, passed: 0.45, does: (investor) => investor % 4 === 1 },
  { step: { kind: "withdraw", percent: 10n }, passed: 0.5, does: (investor) => investor % 3 === 0 },
  { step: { kind: "leave" }, passed: 0.58, does: (investor) => investor === 4 },
  { step: { kind: "top_up", percent: 30n }, passed: 0.62, does: (investor) => investor % 4 === 2 },
  { step: { kind: "withdraw", percent: 15n }, passed: 0.72, does: (investor) => investor % 5 === 1 },
  { step: { kind: "leave" }, passed: 0.86, does: (investor) => investor === 10 },
];

/** The acts of the Investors of a Master, by week. After a Master is closed, its Investors are on their way out and do nothing. */
export function actsOf({ closesAfter = 1 }: Character, { weeks, investors }: Size): readonly Act[] {
  const all = Array.from({ length: investors }, (_, investor) => investor);
  const half = Math.ceil(investors / 2);
  const joins = all.map((investor): Act => {
    const passed = investor < half ? 0 : ((investor - half + 1) / (investors - half + 1)) * JOINED_BY;
    return { kind: "join", investor, week: weekAt(passed, weeks) };
  });
  const later = HABITS.filter(({ passed }) => passed < closesAfter).flatMap(({ step, passed, does }) =>
    all.filter(does).map((investor): Act => ({ ...step, investor, week: weekAt(passed, weeks) })),
  );
  return [...joins, ...later];
}

/** The week in which a Master is closed, if it is. */
export function closingWeek({ closesAfter }: Character, { weeks }: Size): number | undefined {
  return closesAfter === undefined ? undefined : weekAt(closesAfter, weeks);
}

/** The result of a week in cents, of a balance in cents. */
export function resultOf(character: Character, week: number, { weeks }: Size, balance: bigint): bigint {
  return (balance * BigInt(character.resultOf(week, week / weeks))) / 10_000n;
}

export function percentOf(amount: bigint, percent: bigint): bigint {
  return (amount * percent) / 100n;
}

function weekAt(passed: number, weeks: number): number {
  return Math.floor(passed * weeks);
}
