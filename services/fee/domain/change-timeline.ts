import { refuse } from "../refusals.ts";
import {
  begunBefore,
  inForceAt,
  isStored,
  later,
  type ListedVersion,
  scheduledAfter,
  stateOf,
  type TimelineEntry,
  type TimelineVersion,
} from "./timeline.ts";

export type NewEntry = Omit<TimelineEntry, "id" | "madeAt">;

/** What a command adds to the timeline: its own entry, and then the versions that are scheduled after it. */
export type NewEntries = readonly [own: NewEntry, ...scheduled: NewEntry[]];

/** The requested change; undefined when the caller did not send the field. */
export type FeeChange = {
  readonly ratePpm: number | undefined;
  readonly enabled: boolean | undefined;
  readonly effectiveSince: Date | undefined;
};

/** Each command records the versions that are scheduled after it again, so their number is limited. */
export const MAX_SCHEDULED = 50;

export type AssignmentTerms = {
  readonly ratePpm: number;
  readonly enabled: boolean;
  readonly effectiveSince: Date;
};

/** The version of an assignment begins a new timeline: what was scheduled for the old one is not recorded again. */
export function entryOfAssignment({ ratePpm, enabled, effectiveSince }: AssignmentTerms): NewEntry {
  return versionFrom(effectiveSince, { ratePpm, enabled }, effectiveSince);
}

/**
 * A command without a date, or with the one that is stored, is in force from now on. Another date is executed as it was sent; one
 * in the past re-rates the results since then that are not charged, and its switch is in force from now on all the same. What a
 * command omits is as it is at that start. The versions that are scheduled later stay.
 */
export function entriesOfChange(entries: readonly TimelineEntry[], change: FeeChange, at: Date): NewEntries {
  const { effectiveSince: date = at } = change;
  const start = isStored(entries, date, at) ? at : date;
  const scheduled = scheduledAfter(entries, at).filter(({ since }) => since.getTime() !== start.getTime());
  if (start > at && scheduled.length >= MAX_SCHEDULED) throw tooManyScheduled();
  const ratePpm = change.ratePpm ?? inForceAt(entries, start)?.ratePpm;
  if (ratePpm === undefined) throw rateIsMissing(entries);
  const switchedAt = later(start, at);
  const enabled = change.enabled ?? inForceAt(entries, switchedAt)?.enabled ?? true;
  return [versionFrom(start, { ratePpm, enabled }, switchedAt), ...continued(scheduled, start)];
}

/**
 * From the start of a cancelled version on, the version before it stays in force. Only a scheduled one can be cancelled.
 */
export function entriesOfCancellation(
  entries: readonly TimelineEntry[],
  cancelled: ListedVersion,
  at: Date,
): NewEntries {
  const { id } = cancelled;
  const state = stateOf(entries, cancelled, at);
  if (state !== "scheduled") {
    const message = `Fee version ${id} is not scheduled any more: its state is ${state}.`;
    throw refuse("fee_version_not_scheduled", message, { details: { state } });
  }
  const { effectiveSince: since } = cancelled;
  const before = inForceAt(begunBefore(entries, since), since);
  const own = versionFrom(since, before ?? { ratePpm: 0, enabled: false }, since);
  return [
    { ...own, effectiveSince: before?.since ?? since, restates: before?.id, cancels: id },
    ...continued(scheduledAfter(entries, at), since),
  ];
}

type Terms = Pick<TimelineVersion, "ratePpm" | "enabled">;

function versionFrom(start: Date, { ratePpm, enabled }: Terms, enabledFrom: Date): NewEntry {
  const none = { restates: undefined, cancels: undefined };
  return { ratePpm, rateFrom: start, enabled, enabledFrom, effectiveSince: start, ...none };
}

/** The newest entry that has begun is in force, so a version that begins after a new entry has to be recorded after it. */
function continued(scheduled: readonly TimelineVersion[], start: Date): NewEntry[] {
  return scheduled
    .filter(({ since }) => since > start)
    .map((version) => ({ ...versionFrom(version.since, version, version.since), restates: version.id }));
}

function rateIsMissing(entries: readonly TimelineEntry[]): Error {
  const message =
    entries.length === 0
      ? "rate is required for a new fee configuration."
      : "rate is required: no version is in force at that time.";
  return refuse("validation_failed", "The request is invalid.", {
    errors: [{ field: "rate", code: "required", message }],
  });
}

function tooManyScheduled(): Error {
  const message = `${MAX_SCHEDULED} versions are scheduled for this Investor already. Cancel one of them first.`;
  return refuse("too_many_scheduled_versions", message);
}
