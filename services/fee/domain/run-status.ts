/**
 * CALCULATING: the Investors of its week are decided in several transactions, and some remain; payments of the others may be
 * executed already. SCHEDULED: all are decided, and no payment was sent. EXECUTING: payments are sent. The other three are final.
 */
export type RunStatus = "SCHEDULED" | "CALCULATING" | "EXECUTING" | "EXECUTED" | "PARTIALLY_EXECUTED" | "FAILED";

/** The number of payments of a run by status. Skipped ones are not counted. */
export type RunCounts = {
  readonly open: number;
  readonly executed: number;
  readonly failed: number;
  /** At least one of them was sent to the platform. */
  readonly hasBegun: boolean;
  /** All Investors of the run are decided. */
  readonly isDecided: boolean;
};

/** The status of a run follows from its payments. */
export function runStatus({ open, executed, failed, hasBegun, isDecided }: RunCounts): RunStatus {
  if (!isDecided) return "CALCULATING";
  if (open > 0) return hasBegun ? "EXECUTING" : "SCHEDULED";
  if (failed === 0) return "EXECUTED";
  return executed > 0 ? "PARTIALLY_EXECUTED" : "FAILED";
}
