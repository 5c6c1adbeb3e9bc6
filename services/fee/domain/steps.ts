import { inForceAt, type Version } from "./timeline.ts";
import { isEnabledAt, rateAt, startsOf } from "./version.ts";

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

// oxlint-disable-next-line eslint/no-restricted-globals -- The argument gives the instant, not the clock.
const BEGINNING = new Date(-8_640_000_000_000_000);

/** A timeline in the sequence of its instants: a step begins wherever rate or switch may change. Without versions there are none. */
export function stepsOf(versions: readonly Version[]): Step[] {
  if (versions.length === 0) return [];
  const starts = new Map(startsOf(versions).map((start) => [start.getTime(), start]));
  const inSequence = [...starts.values()].toSorted((left, right) => left.getTime() - right.getTime());
  return [undefined, ...inSequence].map((from) => stepFrom(versions, from));
}

function stepFrom(versions: readonly Version[], from: Date | undefined): Step {
  const at = from ?? BEGINNING;
  const versionId = inForceAt(versions, at)?.id ?? 0n;
  return { from, ratePpm: rateAt(versions, at), enabled: isEnabledAt(versions, at), versionId };
}

/** Whether fees are collected at an instant. */
export function isCollectedAt(steps: readonly Step[], at: Date): boolean {
  return steps.findLast(({ from }) => from === undefined || from <= at)?.enabled ?? false;
}
