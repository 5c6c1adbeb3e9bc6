import { DATABASE_MUTANTS, GROWTH_MUTANT } from "./databases.ts";
import { DEPARTURE_MUTANTS } from "./departures.ts";
import { EVIDENCE_MUTANTS } from "./evidence.ts";
import { FEED_MUTANTS } from "./feeds.ts";
import { FEE_MUTANTS } from "./fees.ts";
import { REGRESSION_MUTANTS } from "./regression-mutants.ts";
import type { PlantedDefect, Mutant } from "./mutant.ts";
import { SENDING_MUTANTS } from "./sending.ts";

/**
 * Realistic defects in decisions of the services, applied one at a time. Where two lines guarantee the same thing, a mutant
 * removes both, because each alone would be enough.
 */
export const MUTANTS: readonly Mutant[] = [
  ...SENDING_MUTANTS,
  ...EVIDENCE_MUTANTS,
  ...FEED_MUTANTS,
  ...FEE_MUTANTS,
  ...DEPARTURE_MUTANTS,
  ...DATABASE_MUTANTS,
];

/** All defects that can be applied to the sources of a simulation thread. */
export const PLANTED_DEFECTS: readonly PlantedDefect[] = [...MUTANTS, ...REGRESSION_MUTANTS, GROWTH_MUTANT];
