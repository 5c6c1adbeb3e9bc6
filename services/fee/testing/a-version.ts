import type { TimelineEntry } from "../domain/timeline.ts";

/** A version whose rate and switch are valid from the same instant. */
export function aVersion(from: Date, parts: Partial<TimelineEntry> = {}): TimelineEntry {
  const own = { id: 1n, restates: undefined, cancels: undefined, madeAt: from };
  return { ...own, ratePpm: 300_000, rateFrom: from, enabled: true, enabledFrom: from, effectiveSince: from, ...parts };
}
