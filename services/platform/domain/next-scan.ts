import { dealLookMs } from "./deal-looks.ts";
import type { Operation } from "./operation.ts";

/** A lost answer is most often found at once. */
const FIRST_SCAN_MS = 250;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;

/** When an operation that just came here wants to be looked at; undefined where nothing is waited for. */
export function nextScanMs({ state, attempt }: Operation): number | undefined {
  switch (state) {
    case "UNKNOWN":
      return FIRST_SCAN_MS;
    // Back from an attempt: the more there were, the longer the pause before the next.
    case "INTENT":
      return Math.min(FIRST_PAUSE_MS * 2 ** Math.max(attempt - 1, 0), MAX_PAUSE_MS);
    case "APPLIED":
      return dealLookMs(0);
    case "SENDING":
    case "REFUSED":
    case "REVIEW":
      return undefined;
  }
}
