/** When the deal of an applied operation is looked for again: a server that restarts forgets its last deals. */
const DEAL_LOOKS_MS: readonly number[] = [60_000, 3_600_000, 86_400_000];

/** A deal that was just made may be on its way into the history for at least so long. */
const SHOWN_WITHIN_MS = 60_000;

/** Milliseconds after which a deal that was made has to be shown: only then may it be missed. */
export function shownWithinMs(quietPeriodMs: number): number {
  return Math.max(SHOWN_WITHIN_MS, quietPeriodMs);
}

/** Milliseconds after the operation was applied of the look that follows so many; undefined when there is none. */
export function dealLookMs(looks: number): number | undefined {
  return DEAL_LOOKS_MS[looks];
}
