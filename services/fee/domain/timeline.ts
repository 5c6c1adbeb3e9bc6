import { refuse } from "../refusals.ts";

/** A version of an Investor's fees. Versions are in the sequence in which they begin: one is in force, only the last one may be scheduled. */
export type Version = {
  readonly id: bigint;
  /** Parts per million. */
  readonly ratePpm: number;
  /** From when the rate is valid, until a later version says otherwise. */
  readonly effectiveSince: Date;
  readonly enabled: boolean;
  /** From when the switch is valid: not before the rate. */
  readonly enabledFrom: Date;
  readonly madeAt: Date;
};

type Start = "effectiveSince" | "enabledFrom";

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
  const version = newestAt(versions, "effectiveSince", at);
  return version && { ...version, enabled: isEnabledAt(versions, at) };
}

/** The switch at an instant; before every start, that of the version that is valid first. Off without versions. */
export function isEnabledAt(versions: readonly Version[], at: Date): boolean {
  return newestAt(versions, "enabledFrom", at)?.enabled ?? isEnabledAtFirst(versions);
}

function isEnabledAtFirst(versions: readonly Version[]): boolean {
  return visible(versions, "enabledFrom").at(-1)?.enabled ?? false;
}

function newestAt(versions: readonly Version[], from: Start, at: Date): Version | undefined {
  return versions.findLast((version) => version[from] <= at);
}

/**
 * The versions at whose starts something changes, from the newest to the first. One that a newer version with an earlier start hides changes nothing: it
 * may be there or not, so that an old part of the timeline need not be read.
 */
function visible(versions: readonly Version[], from: Start): Version[] {
  const found: Version[] = [];
  for (const version of versions.toReversed()) {
    const earliest = found.at(-1);
    if (earliest === undefined || version[from] < earliest[from]) found.push(version);
  }
  return found;
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
  const rates = byStart(versions, "effectiveSince");
  const switches = byStart(versions, "enabledFrom");
  let rate: Version | undefined;
  let enabled = isEnabledAtFirst(versions);
  const steps: Step[] = [{ from: undefined, ratePpm: 0, enabled, versionId: 0n }];
  for (const ms of [...new Set([...rates.keys(), ...switches.keys()])].toSorted((left, right) => left - right)) {
    rate = rates.get(ms) ?? rate;
    enabled = switches.get(ms)?.enabled ?? enabled;
    const from = rates.get(ms)?.effectiveSince ?? switches.get(ms)?.enabledFrom;
    steps.push({ from, ratePpm: enabled ? (rate?.ratePpm ?? 0) : 0, enabled, versionId: rate?.id ?? 0n });
  }
  return steps;
}

function byStart(versions: readonly Version[], from: Start): Map<number, Version> {
  return new Map(visible(versions, from).map((version) => [version[from].getTime(), version]));
}

/** Whether fees are collected at an instant. */
export function isCollectedAt(steps: readonly Step[], at: Date): boolean {
  return steps.findLast(({ from }) => from === undefined || from <= at)?.enabled ?? false;
}

/** 1, in parts per million. */
const WHOLE_PPM = 1_000_000;

export function checkRate(ratePpm: number): void {
  if (ratePpm < 0 || ratePpm > WHOLE_PPM) {
    const message = "rate must be from 0 to 1.";
    throw refuse("validation_failed", "The request is invalid.", {
      errors: [{ field: "rate", code: "out_of_range", message }],
    });
  }
}
