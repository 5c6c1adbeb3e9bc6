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
  /** Whether it is in force at no instant any more. */
  readonly isReplaced: boolean;
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
  const entry = entries.findLast(({ rateFrom }) => rateFrom <= at);
  const id = entry === undefined ? undefined : versionOf(entry);
  if (entry === undefined || id === undefined) return undefined;
  const { ratePpm, enabled } = termsAt(entries, at);
  return { id, ratePpm, enabled, since: entry.effectiveSince };
}

/** The versions that begin after an instant, in the sequence of their starts. */
export function scheduledAfter(entries: readonly TimelineEntry[], at: Date): TimelineVersion[] {
  const starts = new Map<number, Date>();
  for (const { rateFrom } of entries) if (rateFrom > at) starts.set(rateFrom.getTime(), rateFrom);
  return [...starts.values()]
    .toSorted((left, right) => left.getTime() - right.getTime())
    .flatMap((start) => {
      const version = inForceAt(entries, start);
      return version?.since.getTime() === start.getTime() ? version : [];
    });
}

/** Without those that begin at an instant or later. */
export function begunBefore(entries: readonly TimelineEntry[], instant: Date): TimelineEntry[] {
  return entries.filter(({ rateFrom }) => rateFrom < instant);
}

/** The version in force, or the first scheduled one: what a query of the configuration shows. */
export function shownAt(entries: readonly TimelineEntry[], at: Date): TimelineVersion | undefined {
  return inForceAt(entries, at) ?? scheduledAfter(entries, at).at(0);
}

/** Whether a date is the one that a query shows of the version in force, so that a command with it names no date of its own. */
export function isStored(entries: readonly TimelineEntry[], date: Date, at: Date): boolean {
  return inForceAt(entries, at)?.since.getTime() === date.getTime();
}

/** The version that an entry has made. */
export function madeBy({ id, ratePpm, enabled, effectiveSince: since }: TimelineEntry): TimelineVersion {
  return { id, ratePpm, enabled, since };
}

/** The timeline must be known from the instant on. */
export function stateOf(entries: readonly TimelineEntry[], version: ListedVersion, at: Date): VersionState {
  const { id, isCancelled, isReplaced, effectiveSince: since } = version;
  if (isCancelled) return "cancelled";
  if (inForceAt(entries, at)?.id === id) return "in_force";
  if (isReplaced) return "replaced";
  return since > at ? "scheduled" : "past";
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
