import { EVIDENCE_SABOTAGES } from "./evidence.ts";
import { FEED_SABOTAGES } from "./feeds.ts";
import { FEE_SABOTAGES } from "./fees.ts";
import { KEPT_SABOTAGES } from "./kept.ts";
import type { Mistake, Sabotage } from "./sabotage.ts";
import { SENDING_SABOTAGES } from "./sending.ts";

/**
 * Mistakes that somebody could make, one at a time, in the code that decides. Where two lines hold the same thing up, both
 * have to go: then it is not the second line that is missing in the proof.
 */
export const SABOTAGES: readonly Sabotage[] = [
  ...SENDING_SABOTAGES,
  ...EVIDENCE_SABOTAGES,
  ...FEED_SABOTAGES,
  ...FEE_SABOTAGES,
];

/** Whatever can be put into the sources of a thread. */
export const MISTAKES: readonly Mistake[] = [...SABOTAGES, ...KEPT_SABOTAGES];
