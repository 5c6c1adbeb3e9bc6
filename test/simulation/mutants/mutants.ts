import { EVIDENCE_MUTANTS } from "./evidence.ts";
import { FEED_MUTANTS } from "./feeds.ts";
import { FEE_MUTANTS } from "./fees.ts";
import { KEPT_MUTANTS } from "./kept.ts";
import type { Mistake, Mutant } from "./mutant.ts";
import { SENDING_MUTANTS } from "./sending.ts";

/**
 * Mistakes that somebody could make, one at a time, in the code that decides. Where two lines hold the same thing up, both
 * have to go: then it is not the second line that is missing in the proof.
 */
export const MUTANTS: readonly Mutant[] = [...SENDING_MUTANTS, ...EVIDENCE_MUTANTS, ...FEED_MUTANTS, ...FEE_MUTANTS];

/** Whatever can be put into the sources of a thread. */
export const MISTAKES: readonly Mistake[] = [...MUTANTS, ...KEPT_MUTANTS];
