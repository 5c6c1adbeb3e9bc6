import type { Fault, Mode } from "./plan/plan.ts";

/** The mutant that the thread applies to its sources, by its name. */
export type Sources = { readonly mutant: string | undefined };

export type Work = Sources & {
  /** The seeds: every `stride`-th from `first` on. */
  readonly first: number;
  readonly stride: number;
  readonly count: number;
  readonly mode: Mode | "both";
  readonly stopsAtViolation: boolean;
  /** Only seeds whose histories have this fault; the others are not counted. */
  readonly needs?: Fault["kind"] | undefined;
};

/** Prints the history of one seed; of a failing seed, the smallest history that breaks the same invariant. */
export type DescribeWork = Sources & { readonly describe: number; readonly mode: Mode };

/** Simulates so many weeks, and compares the last ones with the first ones. */
export type GrowthWork = Sources & { readonly weeks: number };

/** Replays regressions, by their titles, with seeds from 1 on. */
export type ReplayWork = Sources & { readonly regressions: readonly string[]; readonly seeds: number };
