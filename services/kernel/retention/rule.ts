import type { Queryable } from "../postgres/query.ts";

/** Rows that are no longer needed some time after they ended. */
export type RetentionRule = {
  /** The value of the label `rule` of the metrics. */
  readonly name: string;
  /** The tables whose rows it removes. */
  readonly tables: readonly string[];
  readonly keptMs: number;
  /** Removes the next rows in one statement, which takes milliseconds and waits for no lock. */
  readonly removeNext: (db: Queryable, step: Step) => Promise<Removed>;
  /** What has to be there before rows are inserted; called before each pass, and has no effect when it is there. */
  readonly prepare?: (db: Queryable) => Promise<void>;
};

export type Step = {
  /** Rows that ended before this instant are removed. */
  readonly before: Date;
  /** Where the last step of the pass ended; empty to begin with the oldest row. */
  readonly position: readonly string[];
  /** Rows that the statement reads. */
  readonly maxRows: number;
};

export type Removed = {
  readonly count: number;
  readonly position: readonly string[];
  /** All other rows are younger. */
  readonly endsPass: boolean;
};
