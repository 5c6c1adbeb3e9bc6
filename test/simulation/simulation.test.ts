import { expect, test } from "vitest";
import { OPERATION_KINDS } from "../../services/platform/domain/operation-kind.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF, sized } from "../support/proof.ts";
import type { Hits } from "./report/coverage.ts";
import { coverageSummary } from "./report/print-coverage.ts";
import { printTally } from "./report/print-tally.ts";
import { runWorker, runWorkers, tellInThread } from "./run-workers.ts";
import { MUTANTS } from "./mutants/mutants.ts";

/** A quarter of a minute of one core in `make test`, some minutes of two in `make proof`. */
const SEEDS = sized({ test: 300, proof: 10_000 });
/** `make test` needs the other core for other tests. */
const THREADS = sized({ test: 1, proof: 2 });
/** `make test` runs, for each invariant, the first mutant that violates it. */
const SELECTED_MUTANTS = sized({ test: firstOfEachInvariant(), proof: MUTANTS });
/** From the seed that is known to show it; a change of the sources may move it a little. */
const MUTANT_SEEDS = 150;
/** A machine that does many other things at the same time needs a multiple of what it usually takes. */
const TIMEOUT_MS = 20 * 60_000;
/** Where a process can be hit; after that come the failpoints of the service, by their names. */
const PLACES = ["statement", "commit", "answer", "read", "after_permit", "after_answer"];

const PROOF = { mutant: undefined, first: 1, mode: "both", stopsAtViolation: false } as const;

test(
  "no history breaks anything, and everything is met in them",
  async () => {
    const startedMs = performance.now();
    const tally = await runWorkers({ ...PROOF, count: SEEDS }, THREADS);
    const [failure] = tally.failures;
    if (failure !== undefined) {
      expect.fail(await tellInThread({ mutant: undefined, tell: failure.seed, mode: failure.mode }));
    }
    expect(tally.seeds).toBe(SEEDS);
    const seconds = (performance.now() - startedMs) / 1_000;
    process.stdout.write(`${coverageSummary(tally.hits)}\n\n${printTally(tally, seconds)}\n`);
    countFigures({
      histories: tally.seeds,
      steps: tally.steps,
      "crashes of a process": tally.crashes,
      "other faults": tally.faults,
      "combinations of kind crash point and fault": Object.keys(tally.hits).length,
    });
    expect(missedIn(tally.hits)).toEqual([]);
  },
  TIMEOUT_MS,
);

/** Kinds of operations and places of a crash that never came up: each combination in `make proof`, each of the two in `make test`. */
function missedIn(hits: Hits): readonly string[] {
  const cells = Object.keys(hits).map((cell) => cell.split("|"));
  // A reversal follows a refused credit only, so hardly any of them is under way when a process dies.
  const kinds = Object.keys(OPERATION_KINDS).filter((kind) => kind !== "reversal");
  if (!IS_PROOF) return [...kinds, ...PLACES].filter((part) => cells.every((cell) => !cell.includes(part)));
  const met = new Set(cells.map((cell) => cell.slice(0, 2).join("|")));
  return kinds.flatMap((kind) => PLACES.map((place) => `${kind}|${place}`)).filter((cell) => !met.has(cell));
}

function firstOfEachInvariant(): typeof MUTANTS {
  const invariants = MUTANTS.map(({ caughtBy }) => caughtBy[0]);
  return MUTANTS.filter((_, index) => invariants.indexOf(invariants[index]) === index);
}

test(
  "the same seeds are the same histories, wherever they are lived",
  async () => {
    const work = { ...PROOF, first: 500, count: 12 };
    const [one, two] = await Promise.all([runWorkers(work, 1), runWorkers(work, 2)]);
    expect(two.trace).toBe(one.trace);
    expect((await runWorkers({ ...work, first: 501 }, 1)).trace).not.toBe(one.trace);
  },
  TIMEOUT_MS,
);

test.each(SELECTED_MUTANTS)(
  "it is noticed: $name",
  async ({ name, seed, caughtBy }) => {
    const range = { first: seed, step: 1, count: MUTANT_SEEDS, mode: "both" } as const;
    const { failures } = await runWorker({ ...range, mutant: name, stopsAtViolation: true });
    expect(caughtBy).toContain(failures[0]?.invariant);
  },
  TIMEOUT_MS,
);
