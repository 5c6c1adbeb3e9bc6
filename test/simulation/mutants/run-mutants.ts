import { REGRESSIONS } from "../regressions/regressions.ts";
import { inThread } from "../run-workers.ts";
import { GROWTH_MUTANT } from "./databases.ts";
import { MUTANTS_OF_OTHER_TESTS } from "./other-tests.ts";
import { runInCopy } from "./run-in-copy.ts";
import type { Mutant } from "./mutant.ts";
import { MUTANTS } from "./all-mutants.ts";

/**
 * node test/simulation/mutants/run-mutants.ts: applies each mutant to the sources, one at a time, and prints which test
 * detects it and how soon. Exit code 1 when a mutant is not detected.
 */

/** A mutant that no history up to this seed detects counts as not detected. */
const MAX_SEEDS = 1_500;
/** The same for one that only one fault shows: so many histories with that fault. */
const MAX_WITH_FAULT = 150;
const MAX_REGRESSION_SEEDS = 40;
const GROWTH_WEEKS = 15;

type Row = { readonly name: string; readonly by: string; readonly after: string };

for (const { name, needs } of MUTANTS) {
  note(await timed(name, () => runUntilDetected(name, needs)));
}
for (const { title, mutant } of REGRESSIONS) {
  if (mutant !== undefined && MUTANTS.every(({ name }) => name !== mutant)) {
    note(await timed(mutant, () => replayRegression(title, mutant)));
  }
}
note(await timed(GROWTH_MUTANT.name, growWithMutant));
for (const mutant of MUTANTS_OF_OTHER_TESTS) {
  note(
    await timed(mutant.name, () => {
      const isDetected = runInCopy(mutant);
      return isDetected ? { by: mutant.test, after: "its run" } : undefined;
    }),
  );
}

function note({ name, by, after }: Row): void {
  process.stdout.write(`${name.padEnd(72)} ${by.padEnd(24)} ${after}\n`);
}

type Detection = Pick<Row, "by" | "after">;

async function timed(name: string, detect: () => Promise<Detection | undefined> | Detection | undefined): Promise<Row> {
  const startedMs = performance.now();
  const detection = await detect();
  if (detection === undefined) {
    process.exitCode = 1;
    return { name, by: "no test", after: "" };
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  return { name, by: detection.by, after: `${detection.after}, ${seconds} s` };
}

async function runUntilDetected(mutant: string, needs: Mutant["needs"]): Promise<Detection | undefined> {
  const count = needs === undefined ? MAX_SEEDS : MAX_WITH_FAULT;
  const range = { first: 1, stride: 1, count, mode: "both", needs } as const;
  const { failures, seeds } = await inThread({ ...range, mutant, stopsAtViolation: true });
  const [failure] = failures;
  const what = needs === undefined ? "seed" : "history with the fault";
  const many = needs === undefined ? "seeds" : "histories with the fault";
  return failure && { by: `simulation, ${failure.invariant}`, after: `${seeds} ${seeds === 1 ? what : many}` };
}

async function replayRegression(regression: string, mutant: string): Promise<Detection | undefined> {
  const [violation] = await inThread({ regressions: [regression], mutant, seeds: MAX_REGRESSION_SEEDS });
  return violation === undefined ? undefined : { by: `simulation, ${violation.split(":")[0]}`, after: "a regression" };
}

async function growWithMutant(): Promise<Detection | undefined> {
  const { problems } = await inThread({ weeks: GROWTH_WEEKS, mutant: GROWTH_MUTANT.name });
  return problems.length === 0 ? undefined : { by: "simulation, growth", after: `${GROWTH_WEEKS} fee weeks` };
}
