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

/** The rate of profit earned at an instant: 0 while the switch is off and before the first version is valid. */
export function rateAt(versions: readonly FeeVersion[], earnedAt: Date): number {
  const hasBegun = versions.some(({ effectiveSince }) => effectiveSince <= earnedAt);
  if (!hasBegun) return 0;
  const { ratePpm, enabled } = termsAt(versions, earnedAt);
  return enabled ? ratePpm : 0;
}

/** Whether fees are collected at an instant. Without a configuration there are none. */
export function isEnabledAt(versions: readonly FeeVersion[], at: Date): boolean {
  return versions.length > 0 && termsAt(versions, at).enabled;
}

/** Where the rate or the switch of a timeline may change. */
export function startsOf(versions: readonly FeeVersion[]): Date[] {
  return [...visibleStarts(versions, "effectiveSince"), ...visibleStarts(versions, "enabledFrom")];
}

/**
 * The starts at which something changes. A version that a newer one with an earlier start hides changes nothing: it may be there or not,
 * so that an old part of the timeline need not be read.
 */
function visibleStarts(versions: readonly FeeVersion[], from: "effectiveSince" | "enabledFrom"): Date[] {
  const starts: Date[] = [];
  for (const { [from]: start } of versions.toReversed()) {
    const earliest = starts.at(-1);
    if (earliest === undefined || start < earliest) starts.push(start);
  }
  return starts;
}

function versionAt(versions: readonly FeeVersion[], from: "effectiveSince" | "enabledFrom", at: Date): FeeVersion {
  const begun = versions.findLast((version) => version[from] <= at);
  const first = begun ?? versions.toSorted((a, b) => Number(a[from]) - Number(b[from])).at(0);
  if (first === undefined) {
    throw new Error("A configuration has no version.");
  }
  return first;
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
