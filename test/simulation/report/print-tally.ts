import type { Tally } from "../run-seeds.ts";
import { countCells } from "./print-coverage.ts";

/** A combination is counted at each level that it reached. */
const LEVELS = [1, 10, 100, 1_000];
const HOUR_MS = 3_600_000;

/** The failures, and the size and speed of the run. */
export function printTally(tally: Tally, seconds: number): string {
  const { seeds, events, simulatedMs, crashes, faults, failures, hits, trace } = tally;
  const rate = (seeds / seconds).toFixed(1);
  const counted = LEVELS.map(
    (times) => `${countCells(hits, times)} covered ${times === 1 ? "once" : `${times} times`}`,
  );
  return [
    ...failures.map(({ seed, mode, invariant, message }) => `seed ${seed} (${mode}) breaks ${invariant}: ${message}`),
    `${seeds} histories in ${seconds.toFixed(1)} s, ${rate} a second; ${(simulatedMs / HOUR_MS).toFixed(1)} simulated hours, ${events} events`,
    `${crashes} crashes and ${faults} other faults`,
    `combinations of kind, crash point and fault: ${counted.join(", ")}`,
    `trace ${trace.toString(16).padStart(8, "0")}, ${failures.length} failed`,
  ].join("\n");
}
