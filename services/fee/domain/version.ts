/** One command that changed a configuration. Rates in parts per million. */
export type FeeVersion = {
  readonly ratePpm: number;
  /** From when the rate holds; undefined when the command did not touch it. */
  readonly rateFrom: Date | undefined;
  readonly enabled: boolean;
  /** From when the switch holds; undefined when the command did not touch it. */
  readonly enabledFrom: Date | undefined;
  /** What is shown as the beginning of validity. */
  readonly effectiveSince: Date;
};

/** What a command asks for; undefined keeps what is stored. */
export type FeeChange = {
  readonly ratePpm: number | undefined;
  readonly enabled: boolean | undefined;
  readonly effectiveSince: Date | undefined;
};

export type FeeTerms = Pick<FeeVersion, "ratePpm" | "enabled" | "effectiveSince">;

/** The first version of a configuration. The caller has made sure that there is a rate. */
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
 * The version that a change makes of the newest one. A rate holds from the instant that is given, in the past too, else
 * from now or, while the stored configuration has not begun, from its beginning. The switch never acts before now.
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
 * What holds at an instant: of all versions that have begun, the newest, for the rate and for the switch each. Where none
 * has begun, the first that will. Versions in the order in which they were made, at least one.
 */
export function termsAt(versions: readonly FeeVersion[], at: Date): FeeTerms {
  const rate = holding(versions, "rateFrom", at);
  const { enabled } = holding(versions, "enabledFrom", at);
  return { ratePpm: rate.ratePpm, enabled, effectiveSince: rate.effectiveSince };
}

/** The rate that profit of an instant bears: 0 while the switch is off and before the first version begins. */
export function rateAt(versions: readonly FeeVersion[], earnedAt: Date): number {
  const hasBegun = versions.some(({ rateFrom }) => (rateFrom ?? NEVER) <= earnedAt);
  if (!hasBegun) return 0;
  const { ratePpm, enabled } = termsAt(versions, earnedAt);
  return enabled ? ratePpm : 0;
}

/** Whether fees are collected at an instant. Nobody pays without a configuration. */
export function isEnabledAt(versions: readonly FeeVersion[], at: Date): boolean {
  return versions.length > 0 && termsAt(versions, at).enabled;
}

function holding(versions: readonly FeeVersion[], from: "rateFrom" | "enabledFrom", at: Date): FeeVersion {
  const begun = versions.findLast((version) => (version[from] ?? NEVER) <= at);
  const scheduled = versions.filter((version) => version[from] !== undefined);
  const first = begun ?? scheduled.toSorted((a, b) => Number(a[from]) - Number(b[from])).at(0);
  if (first === undefined) {
    throw new Error("a configuration has a first version");
  }
  return first;
}

function later(left: Date, right: Date): Date {
  return left > right ? left : right;
}

const NEVER = Number.POSITIVE_INFINITY;
