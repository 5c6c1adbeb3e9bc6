/** What one transaction does at most: others wait that long for the row of the Master. */
export type StepSizes = {
  /** Investors of a closed week that are decided. */
  readonly holdings: number;
  /** Results that are added to the earnings of Investors. */
  readonly results: number;
};

/** Less than a third of a second on one processor, which is less than the others wait for a lock. */
export const STEPS: StepSizes = { holdings: 500, results: 10_000 };
