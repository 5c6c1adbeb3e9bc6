export type RunStatus = "SCHEDULED" | "EXECUTING" | "EXECUTED" | "PARTIALLY_EXECUTED" | "FAILED";

/** How many payments of a run stand where. Those that were skipped count nowhere. */
export type RunCounts = {
  readonly open: number;
  readonly executed: number;
  readonly failed: number;
  /** At least one of them was asked of the platform. */
  readonly hasBegun: boolean;
};

/** A run is what its payments are. */
export function runStatus({ open, executed, failed, hasBegun }: RunCounts): RunStatus {
  if (open > 0) return hasBegun ? "EXECUTING" : "SCHEDULED";
  if (failed === 0) return "EXECUTED";
  return executed > 0 ? "PARTIALLY_EXECUTED" : "FAILED";
}
