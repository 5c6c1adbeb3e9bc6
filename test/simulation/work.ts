import type { Mode } from "./plan/plan.ts";

/** With which sources this thread lives. */
export type Sources = {
  readonly sabotage: string | undefined;
  /** Whether the mends of known defects are in place. */
  readonly isMended: boolean;
};

export type Work = Sources & {
  /** Which seeds: every `step`-th from `first` on. */
  readonly first: number;
  readonly step: number;
  readonly count: number;
  readonly mode: Mode | "both";
  readonly stopsAtViolation: boolean;
};

/** One seed: its history, or, when it fails, the smallest one that fails like it. */
export type Telling = Sources & { readonly tell: number; readonly mode: Mode };

/** The histories of a known defect: how many of them fail. */
export type Showing = Sources & { readonly shows: string };
