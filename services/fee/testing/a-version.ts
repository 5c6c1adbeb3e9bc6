import type { ListedVersion, TimelineEntry } from "../domain/timeline.ts";

/** A version whose rate and switch are valid from the same instant. */
export function aVersion(from: Date, parts: Partial<TimelineEntry> = {}): TimelineEntry {
  const own = { id: 1n, restates: undefined, cancels: undefined, madeAt: from };
  return { ...own, ratePpm: 300_000, rateFrom: from, enabled: true, enabledFrom: from, effectiveSince: from, ...parts };
}

/** The versions of a whole timeline, which says itself what became of them. */
export function versionsOn(entries: readonly TimelineEntry[]): ListedVersion[] {
  return entries
    .filter(({ restates, cancels }) => restates === undefined && cancels === undefined)
    .filter(({ rateFrom, enabledFrom }) => rateFrom !== undefined || enabledFrom !== undefined)
    .map((entry) => ({
      ...entry,
      isCancelled: entries.some(({ cancels }) => cancels === entry.id),
      isReplaced: undefined,
    }));
}

export function versionOn(entries: readonly TimelineEntry[], wanted: bigint): ListedVersion {
  const version = versionsOn(entries).find(({ id }) => id === wanted);
  if (version === undefined) throw new Error(`The timeline has no version ${wanted}.`);
  return version;
}
