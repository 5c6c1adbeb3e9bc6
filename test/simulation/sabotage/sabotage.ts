import type { Invariant } from "../checks/violation.ts";
import type { Mode } from "../plan/plan.ts";

/** One text of the real source, replaced by a wrong one. It has to be there, or the sabotage proves nothing. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

export type Sabotage = {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Any of these may be the first to notice. */
  readonly caughtBy: readonly Invariant[];
  /** Where it shows soonest; histories of both kinds when nothing is said. */
  readonly mode?: Mode | "both";
};
