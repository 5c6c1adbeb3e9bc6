import type { Mode } from "./plan/plan.ts";

/** With which mistake put into the sources this thread lives, by its name. */
export type Sources = { readonly mutant: string | undefined };

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

/** A history that is kept, by its title. */
export type Keeping = Sources & { readonly kept: string };
