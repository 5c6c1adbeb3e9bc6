import type { Change } from "../domain/change-timeline.ts";
import { later, type Version } from "../domain/timeline.ts";

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
