import { refuse } from "../refusals.ts";
import { inForceAt, later, scheduledAfter, type Version } from "./timeline.ts";

export type NewVersion = Omit<Version, "id" | "madeAt">;

/** What a command makes of a timeline. */
export type Change = {
  readonly version: NewVersion;
  /** The versions that it takes the place of. */
  readonly replaces: readonly bigint[];
};

export type AssignmentTerms = Pick<Version, "ratePpm" | "enabled" | "effectiveSince">;

/** The requested change; undefined when the caller did not send the field. */
export type FeeChange = { readonly [Name in keyof AssignmentTerms]: AssignmentTerms[Name] | undefined };

/** The version of an assignment begins a new timeline: what was scheduled for the old one never begins. */
export function versionOfAssignment(versions: readonly Version[], terms: AssignmentTerms): Change {
  const { effectiveSince } = terms;
  return { version: { ...terms, enabledFrom: effectiveSince }, replaces: startingFrom(versions, effectiveSince) };
}

/**
 * A command without a date, or with the one that a query shows of the version in force, is in force from now on. Another date is
 * executed as it was sent; one in the past re-rates the results since then that are not charged, and its switch is in force from now on all
 * the same. What a command omits is as it is at that start. The scheduled version stays; one with the same start replaces it.
 */
export function versionOfChange(versions: readonly Version[], change: FeeChange, at: Date): Change {
  const { effectiveSince: date = at } = change;
  const start = isSame(inForceAt(versions, at), date) ? at : date;
  const scheduled = scheduledAfter(versions, at);
  const kept = isSame(scheduled, start) ? undefined : scheduled;
  if (kept !== undefined && start > at) throw isScheduled(kept);
  const ratePpm = change.ratePpm ?? inForceAt(versions, start)?.ratePpm;
  if (ratePpm === undefined) throw rateIsMissing(versions);
  const enabledFrom = later(start, at);
  const enabled = change.enabled ?? inForceAt(versions, enabledFrom)?.enabled ?? true;
  return {
    version: { ratePpm, effectiveSince: start, enabled, enabledFrom },
    replaces: startingFrom(versions, start).filter((id) => id !== kept?.id),
  };
}

function startingFrom(versions: readonly Version[], start: Date): bigint[] {
  return versions.flatMap(({ id, effectiveSince }) => (effectiveSince >= start ? id : []));
}

function isSame(version: Version | undefined, start: Date): boolean {
  return version?.effectiveSince.getTime() === start.getTime();
}

function rateIsMissing(versions: readonly Version[]): Error {
  const message =
    versions.length === 0
      ? "rate is required for a new fee configuration."
      : "rate is required: no version is in force at that time.";
  return refuse("validation_failed", "The request is invalid.", {
    errors: [{ field: "rate", code: "required", message }],
  });
}

function isScheduled({ id, effectiveSince }: Version): Error {
  const message = `Fee version ${id} is scheduled for this Investor already, from ${effectiveSince.toISOString()}. Cancel it first, or send its start to replace it.`;
  return refuse("too_many_scheduled_versions", message);
}
