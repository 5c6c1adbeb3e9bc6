import { makePlan } from "./plan/make-plan.ts";
import type { Mode } from "./plan/plan.ts";
import { addHits, type Hits } from "./report/coverage.ts";
import { hashText } from "./world/random.ts";
import { simulate } from "./simulate.ts";
import type { Work } from "./work.ts";

export type Failure = {
  readonly seed: number;
  readonly mode: Mode;
  readonly invariant: string;
  readonly message: string;
};

export type Tally = {
  readonly seeds: number;
  readonly events: number;
  readonly simulatedMs: number;
  readonly failures: readonly Failure[];
  readonly hits: Hits;
  /** Crashes of processes, and all other faults. */
  readonly crashes: number;
  readonly faults: number;
  /** Equal for equal sets of histories, whatever the order in which they ran. */
  readonly trace: number;
};

const HOUR_MS = 3_600_000;

/** The failures, and the size and speed of the run. */
export function printTally(tally: Tally, seconds: number): string {
  const { seeds, events, simulatedMs, crashes, faults, failures, hits, trace } = tally;
  return [
    ...failures.map(({ seed, mode, invariant, message }) => `seed ${seed} (${mode}) breaks ${invariant}: ${message}`),
    `${seeds} histories in ${seconds.toFixed(1)} s, ${(simulatedMs / HOUR_MS).toFixed(1)} simulated hours, ${events} events`,
    `${crashes} crashes and ${faults} other faults, ${Object.keys(hits).length} combinations of kind, crash point and fault`,
    `trace ${trace.toString(16).padStart(8, "0")}, ${failures.length} failed`,
  ].join("\n");
}

/** Runs many histories, one after the other. */
export async function runSeeds({ first, stride, count, mode, stopsAtViolation, needs }: Work): Promise<Tally> {
  const failures: Failure[] = [];
  const hits: Hits = {};
  let trace = 0;
  let events = 0;
  let simulatedMs = 0;
  let seeds = 0;
  let crashes = 0;
  let faults = 0;
  for (let seed = first; seeds < count; seed += stride) {
    const own = mode === "both" ? modeOf(seed) : mode;
    const plan = makePlan(seed, own);
    if (needs !== undefined && plan.faults.every(({ kind }) => kind !== needs)) continue;
    const result = await simulate(plan);
    seeds += 1;
    events += result.events;
    simulatedMs += result.simulatedMs;
    crashes += result.crashes;
    faults += result.faults;
    addHits(hits, result.hits);
    trace = (trace + hashText(result.traceHash, seed)) >>> 0;
    const { violation } = result;
    if (violation === undefined) continue;
    failures.push({ seed, mode: own, invariant: violation.invariant, message: violation.message });
    if (stopsAtViolation) break;
  }
  return { seeds, events, simulatedMs, failures, hits, crashes, faults, trace };
}

/** One seed in four is a safety history: it takes three times as long, and liveness histories find most defects too. */
export function modeOf(seed: number): Mode {
  return seed % 4 === 0 ? "safety" : "liveness";
}
