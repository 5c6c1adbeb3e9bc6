import type { Mode } from "./plan/plan.ts";

/** What one worker is to live through. */
export type Work = {
  /** Which seeds: every `step`-th from `first` on. */
  readonly first: number;
  readonly step: number;
  readonly count: number;
  readonly mode: Mode | "both";
  readonly sabotage: string | undefined;
  readonly stopsAtViolation: boolean;
};
