import { inForceAt, type ListedVersion, type TimelineEntry } from "../domain/timeline.ts";

/** A version whose rate and switch are valid from the same instant. */
export function aVersion(from: Date, parts: Partial<TimelineEntry> = {}): TimelineEntry {
  const own = { id: 1n, restates: undefined, cancels: undefined, madeAt: from };
  return { ...own, ratePpm: 300_000, rateFrom: from, enabled: true, enabledFrom: from, effectiveSince: from, ...parts };
}

/** The versions of a whole timeline, which says itself what became of them. */
export function versionsOn(entries: readonly TimelineEntry[]): ListedVersion[] {
  return entries
    .filter(({ restates, cancels }) => restates === undefined && cancels === undefined)
    .map((entry) => ({
      ...entry,
      isCancelled: entries.some(({ cancels }) => cancels === entry.id),
      // What holds any time of the timeline holds its own start.
      isReplaced: inForceAt(entries, entry.effectiveSince)?.id !== entry.id,
    }));
}

export function versionOn(entries: readonly TimelineEntry[], wanted: bigint): ListedVersion {
  const version = versionsOn(entries).find(({ id }) => id === wanted);
  if (version === undefined) throw new Error(`The timeline has no version ${wanted}.`);
  return version;
}
