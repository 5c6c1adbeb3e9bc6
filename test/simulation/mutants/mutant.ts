import type { Invariant } from "../checks/violation.ts";

/** One text of the real source, replaced by a wrong one. It has to be there, or the mutant proves nothing. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

/** A mistake that somebody could make. */
export type Mistake = { readonly name: string; readonly edits: readonly Edit[] };

/** One that the simulation notices. */
export type Mutant = Mistake & {
  /** Any of these may be the first to notice. */
  readonly caughtBy: readonly Invariant[];
  /** A history that shows it: the search begins there. */
  readonly seed: number;
};

/** One of code that the simulation does not run: this test notices. */
export type MutantElsewhere = Mistake & { readonly test: string };
