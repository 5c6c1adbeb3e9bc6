import { refuse } from "../refusals.ts";
import type { MasterChange } from "./master.ts";

/** Where the closing of a Master is; undefined while none has begun. */
export type ClosingState = "closing" | "archived";

/** An archived Master does not change any more; of one that is being closed, what concerns later assignments. */
export function decideChange(login: string, change: MasterChange, closing: ClosingState | undefined): void {
  if (closing === undefined) return;
  const isForAssignments = change.acceptingInvestors === true;
  if (closing === "closing" && !isForAssignments) return;
  const why = closing === "closing" ? "is being closed" : "is archived";
  throw refuse("master_closed", `Master ${login} ${why}.`, { details: { state: closing }, outcome: "not_executed" });
}
