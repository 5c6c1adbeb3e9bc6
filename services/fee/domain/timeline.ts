import { type FeeVersion, termsAt } from "./version.ts";

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
