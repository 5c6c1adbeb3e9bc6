import { refuse } from "../refusals.ts";

/** A version of an Investor's fees. Rates in parts per million. */
export type FeeVersion = {
  readonly ratePpm: number;
  /** From when the rate is valid, until a later version says otherwise. */
  readonly effectiveSince: Date;
  readonly enabled: boolean;
  /** From when the switch is valid: not before the rate. */
  readonly enabledFrom: Date;
};

export type FeeTerms = Pick<FeeVersion, "ratePpm" | "enabled" | "effectiveSince">;

/**
 * The terms at an instant: rate and switch, each of the newest version that is valid by then; if none is, of the first
 * scheduled one. `versions` are in the sequence in which they begin, and there is at least one.
 */
export function termsAt(versions: readonly FeeVersion[], at: Date): FeeTerms {
  const rate = versionAt(versions, "effectiveSince", at);
  const { enabled } = versionAt(versions, "enabledFrom", at);
  return { ratePpm: rate.ratePpm, enabled, effectiveSince: rate.effectiveSince };
}

/** The switch before every start. There is at least one version. */
export function enabledAtFirst(versions: readonly FeeVersion[]): boolean {
  return firstOf(versions, "enabledFrom").enabled;
}

/**
 * The versions at whose starts something changes, the newest first. One that a newer version with an earlier start hides changes nothing: it
 * may be there or not, so that an old part of the timeline need not be read.
 */
export function visibleVersions<V extends FeeVersion>(versions: readonly V[], from: Start): V[] {
  const visible: V[] = [];
  for (const version of versions.toReversed()) {
    const earliest = visible.at(-1);
    if (earliest === undefined || version[from] < earliest[from]) visible.push(version);
  }
  return visible;
}

type Start = "effectiveSince" | "enabledFrom";

function versionAt(versions: readonly FeeVersion[], from: Start, at: Date): FeeVersion {
  return versions.findLast((version) => version[from] <= at) ?? firstOf(versions, from);
}

function firstOf(versions: readonly FeeVersion[], from: Start): FeeVersion {
  const [first, ...others] = versions;
  if (first === undefined) throw new Error("A configuration has no version.");
  return others.reduce((earliest, version) => (version[from] < earliest[from] ? version : earliest), first);
}

/** 1, in parts per million. */
export const WHOLE_PPM = 1_000_000;

export function checkRate(ratePpm: number): void {
  if (ratePpm < 0 || ratePpm > WHOLE_PPM) {
    const message = "rate must be from 0 to 1.";
    throw refuse("validation_failed", "The request is invalid.", {
      errors: [{ field: "rate", code: "out_of_range", message }],
    });
  }
}
