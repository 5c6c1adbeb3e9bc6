import type { Change } from "../domain/change-timeline.ts";
import { inForceAt, later, type Version } from "../domain/timeline.ts";

/** A version whose rate and switch are valid from the same instant. */
export function aVersion(from: Date, parts: Partial<Version> = {}): Version {
  return { id: 1n, ratePpm: 300_000, effectiveSince: from, enabled: true, enabledFrom: from, madeAt: from, ...parts };
}

/** The versions after a command, as a database has them: what was replaced before it began never begins. */
export function versionsAfter(versions: readonly Version[], { version, replaces }: Change, madeAt: Date): Version[] {
  const kept = versions.filter(({ id, effectiveSince }) => effectiveSince <= madeAt || !replaces.includes(id));
  const id = kept.reduce((newest, each) => (each.id > newest ? each.id : newest), 0n) + 1n;
  return [...kept, { ...version, id, madeAt }].toSorted(
    (left, right) => Number(beginOf(left)) - Number(beginOf(right)),
  );
}

function beginOf({ effectiveSince, madeAt }: Version): Date {
  return later(effectiveSince, madeAt);
}

/** The rate of profit earned at an instant: 0 while the switch is off and before the first version is valid. */
export function rateAt(versions: readonly Version[], earnedAt: Date): number {
  const { ratePpm, enabled } = inForceAt(versions, earnedAt) ?? { ratePpm: 0, enabled: false };
  return enabled ? ratePpm : 0;
}
