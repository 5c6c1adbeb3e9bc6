import { type FeeVersion, termsAt } from "./version.ts";

/** An entry as it is recorded. A version has one of its own, and further ones where it is continued. */
export type TimelineEntry = FeeVersion & {
  readonly id: bigint;
  /** The version whose terms it has; undefined for the entry of a version itself. */
  readonly restates: bigint | undefined;
  /** The cancelled version in whose place it begins; without `restates` nothing is in force from there on. */
  readonly cancels: bigint | undefined;
  readonly madeAt: Date;
};

/** A version, with the values that it has from its start on. */
export type TimelineVersion = {
  readonly id: bigint;
  readonly ratePpm: number;
  readonly enabled: boolean;
  readonly since: Date;
};

export type VersionState = "scheduled" | "in_force" | "past" | "replaced" | "cancelled";

/**
 * The present, as commands and queries count it: the clock of one replica may be behind that of another one, which has made the
 * last version and has said that it is in force.
 */
export function presentOf(entries: readonly TimelineEntry[], now: Date): Date {
  const { madeAt = now } = entries.at(-1) ?? {};
  return later(madeAt, now);
}

/** The version in force at an instant. */
export function inForceAt(entries: readonly TimelineEntry[], at: Date): TimelineVersion | undefined {
  const entry = entryAt(entries, at);
  const id = entry === undefined ? undefined : versionOf(entry);
  if (entry === undefined || id === undefined) return undefined;
  const { ratePpm, enabled } = termsAt(entries, at);
  return { id, ratePpm, enabled, since: startOf(entry) };
}

/** The versions that begin after an instant, in the sequence of their starts. */
export function scheduledAfter(entries: readonly TimelineEntry[], at: Date): TimelineVersion[] {
  const starts = new Map<number, Date>();
  for (const entry of entries) {
    const start = beginningOf(entry);
    if (start !== undefined && start > at) starts.set(start.getTime(), start);
  }
  return [...starts.values()]
    .toSorted((left, right) => left.getTime() - right.getTime())
    .flatMap((start) => {
      const version = inForceAt(entries, start);
      return version?.since.getTime() === start.getTime() ? version : [];
    });
}

/** Without those that begin at an instant or later. */
export function begunBefore(entries: readonly TimelineEntry[], instant: Date): TimelineEntry[] {
  return entries.filter((entry) => {
    const start = beginningOf(entry);
    return start !== undefined && start < instant;
  });
}

/** The version in force, or the first scheduled one: what a query of the configuration shows. */
export function shownAt(entries: readonly TimelineEntry[], at: Date): TimelineVersion | undefined {
  return inForceAt(entries, at) ?? scheduledAfter(entries, at).at(0);
}

/** Whether a date is the one that a query shows of the version in force, so that a command with it names no date of its own. */
export function isStored(entries: readonly TimelineEntry[], date: Date, at: Date): boolean {
  const entry = entryAt(entries, at);
  if (entry === undefined || versionOf(entry) === undefined) return false;
  // The first release showed the start of the first version for those that it had made without a date.
  return [startOf(entry), entry.effectiveSince].some((stored) => stored.getTime() === date.getTime());
}

/** The version that an entry has made; undefined for one that continues another version, and for one that changed nothing. */
export function madeBy(entries: readonly TimelineEntry[], entry: TimelineEntry): TimelineVersion | undefined {
  const since = beginningOf(entry);
  if (entry.restates !== undefined || entry.cancels !== undefined || since === undefined) return undefined;
  const terms = termsAt(entries, since);
  return {
    id: entry.id,
    ratePpm: entry.rateFrom === undefined ? terms.ratePpm : entry.ratePpm,
    enabled: entry.enabledFrom === undefined ? terms.enabled : entry.enabled,
    since,
  };
}

export function stateOf(entries: readonly TimelineEntry[], { id, since }: TimelineVersion, at: Date): VersionState {
  if (entries.some(({ cancels }) => cancels === id)) return "cancelled";
  if (inForceAt(entries, at)?.id === id) return "in_force";
  // What holds any time of the timeline holds its own start.
  if (inForceAt(entries, since)?.id !== id) return "replaced";
  return since > at ? "scheduled" : "past";
}

/** The newest entry that has begun. Entries of the first release may change the switch alone. */
function entryAt(entries: readonly TimelineEntry[], at: Date): TimelineEntry | undefined {
  const rated = entries.findLast(({ rateFrom }) => rateFrom !== undefined && rateFrom <= at);
  const switched = entries.findLast(({ enabledFrom }) => enabledFrom !== undefined && enabledFrom <= at);
  if (switched?.enabledFrom === undefined || switched.rateFrom !== undefined) return rated;
  return rated?.rateFrom === undefined || switched.enabledFrom > rated.rateFrom ? switched : rated;
}

function beginningOf({ rateFrom, enabledFrom }: FeeVersion): Date | undefined {
  return rateFrom ?? enabledFrom;
}

/** The start of the version that an entry has made or continues. */
function startOf(entry: TimelineEntry): Date {
  const { restates, effectiveSince } = entry;
  return restates === undefined ? (beginningOf(entry) ?? effectiveSince) : effectiveSince;
}

function versionOf({ id, restates, cancels }: TimelineEntry): bigint | undefined {
  return restates ?? (cancels === undefined ? id : undefined);
}

export function later(left: Date, right: Date): Date {
  return left > right ? left : right;
}

export function earlier(left: Date, right: Date): Date {
  return left < right ? left : right;
}
