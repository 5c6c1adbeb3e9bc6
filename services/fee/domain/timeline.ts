import { enabledAtFirst, type FeeVersion, termsAt, visibleVersions } from "./version.ts";

/** A version as it is recorded. Versions are in the sequence in which they begin: one is in force, only the last one may be scheduled. */
export type Version = FeeVersion & { readonly id: bigint; readonly madeAt: Date };

/** A version, and what has ended it other than the start of a later one, with the key of that command. */
export type ListedVersion = Version & {
  readonly ended: "replaced" | "cancelled" | undefined;
  readonly endedBy: string | undefined;
};

export type VersionState = "scheduled" | "in_force" | "past" | NonNullable<ListedVersion["ended"]>;

/**
 * The present, as commands and queries count it: the clock of one replica may be behind that of another one, which has made the
 * last version and has said that it is in force.
 */
export function presentOf(configuration: { readonly updatedAt: Date } | undefined, now: Date): Date {
  return later(configuration?.updatedAt ?? now, now);
}

/** The version in force at an instant, with the switch of that instant. */
export function inForceAt(versions: readonly Version[], at: Date): Version | undefined {
  const version = versions.findLast(({ effectiveSince }) => effectiveSince <= at);
  return version && { ...version, enabled: termsAt(versions, at).enabled };
}

export function scheduledAfter(versions: readonly Version[], at: Date): Version | undefined {
  const last = versions.at(-1);
  return last !== undefined && last.effectiveSince > at ? last : undefined;
}

/** The version in force, or the scheduled one: what a query of the configuration shows. */
export function shownAt(versions: readonly Version[], at: Date): Version | undefined {
  return inForceAt(versions, at) ?? scheduledAfter(versions, at);
}

/** The timeline must be known at the instant. */
export function stateOf(
  versions: readonly Version[],
  { id, ended, effectiveSince }: ListedVersion,
  at: Date,
): VersionState {
  if (ended !== undefined) return ended;
  if (effectiveSince > at) return "scheduled";
  return inForceAt(versions, at)?.id === id ? "in_force" : "past";
}

export function later(left: Date, right: Date): Date {
  return left > right ? left : right;
}

export function earlier(left: Date, right: Date): Date {
  return left < right ? left : right;
}

/** The terms of an Investor from an instant until the next step. */
type Step = {
  /** Undefined in the first step: from the beginning. */
  readonly from: Date | undefined;
  /** Parts per million; 0 while fees are switched off, and before the first version is valid. */
  readonly ratePpm: number;
  readonly enabled: boolean;
  /** The version that has the rate; 0 before the first one is valid. */
  readonly versionId: bigint;
};

/**
 * A timeline in the sequence of its instants: a step begins wherever rate or switch may change. Without versions there are none. Each version is
 * looked at once: the one that begins with a step is the newest one that is valid from then on.
 */
export function stepsOf(versions: readonly Version[]): Step[] {
  if (versions.length === 0) return [];
  const rates = byStart(visibleVersions(versions, "effectiveSince"), "effectiveSince");
  const switches = byStart(visibleVersions(versions, "enabledFrom"), "enabledFrom");
  const starts = new Map([...rates, ...switches].map(([ms, { start }]) => [ms, start]));
  let rate: Version | undefined;
  let enabled = enabledAtFirst(versions);
  const steps: Step[] = [{ from: undefined, ratePpm: 0, enabled, versionId: 0n }];
  for (const [ms, from] of [...starts].toSorted(([left], [right]) => left - right)) {
    rate = rates.get(ms)?.version ?? rate;
    enabled = switches.get(ms)?.version.enabled ?? enabled;
    steps.push({ from, ratePpm: enabled ? (rate?.ratePpm ?? 0) : 0, enabled, versionId: rate?.id ?? 0n });
  }
  return steps;
}

type Begun = { readonly start: Date; readonly version: Version };

function byStart(versions: readonly Version[], from: "effectiveSince" | "enabledFrom"): Map<number, Begun> {
  return new Map(versions.map((version) => [version[from].getTime(), { start: version[from], version }]));
}

/** Whether fees are collected at an instant. */
export function isCollectedAt(steps: readonly Step[], at: Date): boolean {
  return steps.findLast(({ from }) => from === undefined || from <= at)?.enabled ?? false;
}
