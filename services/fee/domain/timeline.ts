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

/** The entry of a version, with what is stored of it beside the timeline. */
export type ListedVersion = TimelineEntry & {
  readonly isCancelled: boolean;
  /** Whether it is in force at no instant any more; undefined where the timeline has to say it. */
  readonly isReplaced: boolean | undefined;
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

/** The version that an entry has made. The timeline must be known from `knownSince` of it on. */
export function madeBy(entries: readonly TimelineEntry[], entry: TimelineEntry): TimelineVersion {
  const { id, ratePpm, enabled } = entry;
  const since = startOf(entry);
  if (isWhole(entry)) return { id, ratePpm, enabled, since };
  const terms = termsAt(entries, since);
  return {
    id,
    ratePpm: entry.rateFrom === undefined ? terms.ratePpm : ratePpm,
    enabled: entry.enabledFrom === undefined ? terms.enabled : enabled,
    since,
  };
}

/**
 * From when on the timeline must be known for what these versions are at an instant: from that instant on. What the first release did not change
 * with a version, it takes from the timeline at its start.
 */
export function knownSince(versions: readonly TimelineEntry[], at: Date): Date {
  return versions.filter((entry) => !isWhole(entry)).reduce((since, entry) => earlier(since, startOf(entry)), at);
}

/** The timeline must be known from `knownSince` of the version on. */
export function stateOf(entries: readonly TimelineEntry[], version: ListedVersion, at: Date): VersionState {
  const { id, isCancelled } = version;
  if (isCancelled) return "cancelled";
  if (inForceAt(entries, at)?.id === id) return "in_force";
  const since = startOf(version);
  // What holds any time of the timeline holds its own start.
  const { isReplaced = inForceAt(entries, since)?.id !== id } = version;
  if (isReplaced) return "replaced";
  return since > at ? "scheduled" : "past";
}

/** Whether it changes rate and switch, as every entry since the first release. */
function isWhole({ rateFrom, enabledFrom }: TimelineEntry): boolean {
  return rateFrom !== undefined && enabledFrom !== undefined;
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
