import { expect, test } from "vitest";
import { OPERATION_KINDS } from "../../services/platform/domain/operation-kind.ts";
import type { Hits } from "./report/coverage.ts";
import { coverageSummary } from "./report/print-coverage.ts";
import { printTally } from "./report/print-tally.ts";
import { runWorker, runWorkers, tellInThread } from "./run-workers.ts";
import { SABOTAGES } from "./sabotage/sabotages.ts";

/** A minute or two of one core; SIMULATION_SEEDS asks for another number. */
const SEEDS = Number(process.env["SIMULATION_SEEDS"] ?? 2_000);
/** With fewer it is no wonder when something does not come up. */
const SEEDS_FOR_ALL = 2_000;
/** Other tests want the other core. */
const THREADS = 1;
/** From the seed that is known to show it; a change of the sources may move it a little. */
const SABOTAGE_SEEDS = 150;
/** A machine that does many other things at the same time needs a multiple of what it usually takes. */
const PATIENCE_MS = 20 * 60_000;
/** Where a process can be hit; after that come the failpoints of the service, by their names. */
const PLACES = ["statement", "commit", "answer", "read", "after_permit", "after_answer"];

const PROOF = { sabotage: undefined, first: 1, mode: "both", stopsAtViolation: false } as const;

test(
  "no history breaks anything, and everything is met in them",
  async () => {
    const startedMs = performance.now();
    const tally = await runWorkers({ ...PROOF, count: SEEDS }, THREADS);
    const [failure] = tally.failures;
    if (failure !== undefined)
      expect.fail(await tellInThread({ sabotage: undefined, tell: failure.seed, mode: failure.mode }));
    expect(tally.seeds).toBe(SEEDS);
    const seconds = (performance.now() - startedMs) / 1_000;
    process.stdout.write(`${coverageSummary(tally.hits)}\n\n${printTally(tally, seconds)}\n`);
    if (SEEDS >= SEEDS_FOR_ALL) expect(missedIn(tally.hits)).toEqual([]);
  },
  PATIENCE_MS,
);

/** Combinations of a kind of operation and a place of a crash that never came up. */
function missedIn(hits: Hits): readonly string[] {
  const met = new Set(Object.keys(hits).map((cell) => cell.split("|").slice(0, 2).join("|")));
  // A reversal follows a refused credit only, so hardly any of them is under way when a process dies.
  const kinds = Object.keys(OPERATION_KINDS).filter((kind) => kind !== "reversal");
  return kinds.flatMap((kind) => PLACES.map((place) => `${kind}|${place}`)).filter((cell) => !met.has(cell));
}

test(
  "the same seeds are the same histories, wherever they are lived",
  async () => {
    const work = { ...PROOF, first: 500, count: 12 };
    const [one, two] = await Promise.all([runWorkers(work, 1), runWorkers(work, 2)]);
    expect(two.trace).toBe(one.trace);
    expect((await runWorkers({ ...work, first: 501 }, 1)).trace).not.toBe(one.trace);
  },
  PATIENCE_MS,
);

test.each(SABOTAGES)(
  "it is noticed: $name",
  async ({ name, seed, caughtBy }) => {
    const range = { first: seed, step: 1, count: SABOTAGE_SEEDS, mode: "both" } as const;
    const { failures } = await runWorker({ ...range, sabotage: name, stopsAtViolation: true });
    expect(caughtBy).toContain(failures[0]?.invariant);
  },
  PATIENCE_MS,
);
