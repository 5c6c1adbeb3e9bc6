import { expect, test } from "vitest";
import { LEG_KINDS } from "../../services/platform/domain/leg-kind.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF, sized } from "../support/proof.ts";
import type { Hits } from "./report/coverage.ts";
import { inThread, runWorkers } from "./run-workers.ts";
import { printTally } from "./run-seeds.ts";
import { MUTANTS } from "./mutants/all-mutants.ts";

/** 25 seconds on one core in `make test`, some minutes on two cores in `make proof`. */
const SEEDS = sized({ test: 60, proof: 5_000 });
/** `make test` needs the other core for other tests. */
const THREADS = sized({ test: 1, proof: 2 });
/** For each invariant, the first mutant that violates it, and those that only one fault shows. */
const SELECTED_MUTANTS = sized({ test: firstOfEachInvariant(), proof: MUTANTS });
/** The number of seeds to try from the known failing one on: a change of the sources may make a later seed fail. */
const MUTANT_SEEDS = 150;
/** On a busy machine the test takes several times as long. */
const TIMEOUT_MS = 20 * 60_000;
/** Points at which a process crashes or pauses: the general ones, then failpoints of the service by name. */
const FAULT_POINTS = ["statement", "commit", "answer", "read", "after_permit", "after_answer"];

/** Of `make test`, seeds that cover each kind and each point: a change of the statements makes others do so. */
const FIRST = sized({ test: 674, proof: 1 });
const PROOF = { mutant: undefined, first: FIRST, mode: "both", stopsAtViolation: false } as const;

test(
  "no history breaks an invariant, and together they cover every kind of leg and every fault point",
  async () => {
    const startedMs = performance.now();
    const tally = await runWorkers({ ...PROOF, count: SEEDS }, THREADS);
    const [failure] = tally.failures;
    if (failure !== undefined) {
      expect.fail(await inThread({ mutant: undefined, describe: failure.seed, mode: failure.mode }));
    }
    expect(tally.seeds).toBe(SEEDS);
    const seconds = (performance.now() - startedMs) / 1_000;
    process.stdout.write(`${printTally(tally, seconds)}\n`);
    countFigures({
      histories: tally.seeds,
      events: tally.events,
      "crashes of a process": tally.crashes,
      "other faults": tally.faults,
      "combinations of kind crash point and fault": Object.keys(tally.hits).length,
    });
    expect(missedIn(tally.hits)).toEqual([]);
  },
  TIMEOUT_MS,
);

/** Kinds of legs and fault points that no history covered: each combination in `make proof`, each kind and each point in `make test`. */
function missedIn(hits: Hits): readonly string[] {
  const cells = Object.keys(hits).map((cell) => cell.split("|"));
  // A reversal only follows a refused credit, so hardly any is under way when a process crashes.
  const kinds = Object.keys(LEG_KINDS).filter((kind) => kind !== "reversal");
  if (!IS_PROOF) return [...kinds, ...FAULT_POINTS].filter((part) => cells.every((cell) => !cell.includes(part)));
  const covered = new Set(cells.map((cell) => cell.slice(0, 2).join("|")));
  return kinds.flatMap((kind) => FAULT_POINTS.map((point) => `${kind}|${point}`)).filter((cell) => !covered.has(cell));
}

function firstOfEachInvariant(): typeof MUTANTS {
  const invariants = MUTANTS.map(({ detectedBy }) => detectedBy[0]);
  return MUTANTS.filter(({ isAlwaysRun }, index) => isAlwaysRun || invariants.indexOf(invariants[index]) === index);
}

test(
  "the same seeds give the same histories in any number of threads",
  async () => {
    const work = { ...PROOF, first: 500, count: 3 };
    const [one, two] = await Promise.all([runWorkers(work, 1), runWorkers(work, 2)]);
    expect(two.trace).toBe(one.trace);
    expect(two.trace).not.toBe(0);
  },
  TIMEOUT_MS,
);

test.each(SELECTED_MUTANTS)(
  "the mutant is detected: $name",
  async ({ name, seed = 1, needs, detectedBy }) => {
    const range = { first: seed, stride: 1, count: MUTANT_SEEDS, mode: "both", needs } as const;
    const { failures } = await inThread({ ...range, mutant: name, stopsAtViolation: true });
    expect(detectedBy).toContain(failures[0]?.invariant);
  },
  TIMEOUT_MS,
);
