import type { Fault } from "../plan/plan.ts";
import type { Invariant } from "../checks/violation.ts";

/** Replaces a text of a source file. It is an error when the file lacks the text: the sources would have no defect. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

/** A realistic defect as an edit of the sources, or as several. */
export type PlantedDefect = { readonly name: string } & (Edit | { readonly edits: readonly Edit[] });

export function editsOf(defect: PlantedDefect): readonly Edit[] {
  return "edits" in defect ? defect.edits : [defect];
}

/** A planted defect that the simulation detects. */
export type Mutant = PlantedDefect & {
  /** Any of these invariants may be the first to break. */
  readonly detectedBy: readonly Invariant[];
  /** A seed whose history detects it: the search begins there. Without one it begins at 1. */
  readonly seed?: number;
  /** Only histories with this fault can detect it: the others are left out of the search. */
  readonly needs?: Fault["kind"];
  /** `make test` runs it besides the first mutant of each invariant: only one fault shows it. */
  readonly isAlwaysRun?: true;
};
