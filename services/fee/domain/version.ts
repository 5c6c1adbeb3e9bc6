import { refuse } from "../refusals.ts";

/** One command that changed a configuration. Rates in parts per million. */
export type FeeVersion = {
  readonly ratePpm: number;
  /** From when the rate is valid; undefined when the command did not change it. */
  readonly rateFrom: Date | undefined;
  readonly enabled: boolean;
  /** From when the switch is valid; undefined when the command did not change it. */
  readonly enabledFrom: Date | undefined;
  /** What is shown as the beginning of validity. */
  readonly effectiveSince: Date;
};

/** The requested change; undefined keeps the stored value. */
export type FeeChange = {
  readonly ratePpm: number | undefined;
  readonly enabled: boolean | undefined;
  readonly effectiveSince: Date | undefined;
};

export type FeeTerms = Pick<FeeVersion, "ratePpm" | "enabled" | "effectiveSince">;

/** The first version of a configuration, which requires a rate. */
export function firstVersion(change: FeeChange & { readonly ratePpm: number }, now: Date): FeeVersion {
  const effectiveSince = change.effectiveSince ?? now;
  return {
    ratePpm: change.ratePpm,
    rateFrom: effectiveSince,
    enabled: change.enabled ?? true,
    enabledFrom: later(now, effectiveSince),
    effectiveSince,
  };
}

/**
 * The version that a change makes of the newest one. A rate is valid from the requested instant, also one in the past, else
 * from now or, if the stored configuration starts later, from its start. The switch is never valid before now.
 */
export function nextVersion(newest: FeeVersion, change: FeeChange, now: Date): FeeVersion {
  const validFrom = change.effectiveSince ?? later(now, newest.effectiveSince);
  const touchesRate = change.ratePpm !== undefined || change.effectiveSince !== undefined;
  const switchFrom = change.effectiveSince === undefined ? now : later(now, change.effectiveSince);
  return {
    ratePpm: change.ratePpm ?? newest.ratePpm,
    rateFrom: touchesRate ? validFrom : undefined,
    enabled: change.enabled ?? newest.enabled,
    enabledFrom: change.enabled === undefined ? undefined : switchFrom,
    effectiveSince: change.effectiveSince ?? newest.effectiveSince,
  };
}

/**
 * The terms at an instant: rate and switch, each of the newest version that is valid by then; if none is, of the first
 * scheduled one. `versions` is in the sequence of creation and has at least one.
 */
export function termsAt(versions: readonly FeeVersion[], at: Date): FeeTerms {
  const rate = versionAt(versions, "rateFrom", at);
  const { enabled } = versionAt(versions, "enabledFrom", at);
  return { ratePpm: rate.ratePpm, enabled, effectiveSince: rate.effectiveSince };
}

/** The rate of profit earned at an instant: 0 while the switch is off and before the first version is valid. */
export function rateAt(versions: readonly FeeVersion[], earnedAt: Date): number {
  const hasBegun = versions.some(({ rateFrom }) => (rateFrom ?? NEVER) <= earnedAt);
  if (!hasBegun) return 0;
  const { ratePpm, enabled } = termsAt(versions, earnedAt);
  return enabled ? ratePpm : 0;
}

/** Whether fees are collected at an instant. Without a configuration there are none. */
export function isEnabledAt(versions: readonly FeeVersion[], at: Date): boolean {
  return versions.length > 0 && termsAt(versions, at).enabled;
}

/** Whether a version begins after `from` and not after `to`, so that profits of these two instants may have different rates. */
export function isChangedWithin(versions: readonly FeeVersion[], from: Date, to: Date): boolean {
  const isWithin = (begin: Date | undefined): boolean => begin !== undefined && begin > from && begin <= to;
  return versions.some(({ rateFrom, enabledFrom }) => isWithin(rateFrom) || isWithin(enabledFrom));
}

function versionAt(versions: readonly FeeVersion[], from: "rateFrom" | "enabledFrom", at: Date): FeeVersion {
  const begun = versions.findLast((version) => (version[from] ?? NEVER) <= at);
  const scheduled = versions.filter((version) => version[from] !== undefined);
  const first = begun ?? scheduled.toSorted((a, b) => Number(a[from]) - Number(b[from])).at(0);
  if (first === undefined) {
    throw new Error("A configuration has no version.");
  }
  return first;
}

function later(left: Date, right: Date): Date {
  return left > right ? left : right;
}

const NEVER = Number.POSITIVE_INFINITY;

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
