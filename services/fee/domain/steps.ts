import type { Version } from "./timeline.ts";
import { enabledAtFirst, visibleVersions } from "./version.ts";

/** The terms of an Investor from an instant until the next step. */
export type Step = {
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
