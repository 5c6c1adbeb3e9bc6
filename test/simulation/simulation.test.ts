import { expect, test } from "vitest";
import { OPERATION_KINDS } from "../../services/platform/domain/operation-kind.ts";
import type { Hits } from "./report/coverage.ts";
import { coverageSummary } from "./report/print-coverage.ts";
import { runWorker, runWorkers, tellInThread } from "./run-workers.ts";
import { SABOTAGES } from "./sabotage/sabotages.ts";
import type { Sabotage } from "./sabotage/sabotage.ts";
import type { Work } from "./work.ts";

/** Minutes on a machine that does other things too, so it is asked for: SIMULATION_SEEDS=2000. */
const asked = process.env["SIMULATION_SEEDS"];
const SEEDS = Number(asked ?? 0);
const isAsked = asked !== undefined;
const THREADS = 2;
/** A sabotage that so many histories do not show is one that would not be noticed. */
const SABOTAGE_SEEDS = 600;
/** A machine that does many other things at the same time needs a multiple of what it usually takes. */
const PATIENCE_MS = 20 * 60_000;
/** Where a process can be hit; after that come the failpoints of the service, by their names. */
const PLACES = ["statement", "commit", "answer", "read", "after_permit", "after_answer"];

const SOURCES = { sabotage: undefined, isMended: true };
const PROOF = { ...SOURCES, first: 1, mode: "both", stopsAtViolation: false } as const;

test.runIf(isAsked)(
  "no history breaks anything, and everything is met in them",
  async () => {
    const { failures, hits, seeds } = await runWorkers({ ...PROOF, count: SEEDS }, THREADS);
    const [failure] = failures;
    if (failure !== undefined) expect.fail(await tellInThread({ ...SOURCES, tell: failure.seed, mode: failure.mode }));
    expect(seeds).toBe(SEEDS);
    write(coverageSummary(hits));
    if (SEEDS >= 2_000) expect(missedIn(hits)).toEqual([]);
  },
  PATIENCE_MS,
);

/** Combinations of a kind of operation and a place of a crash that never came up. */
function missedIn(hits: Hits): readonly string[] {
  const met = new Set(Object.keys(hits).map((cell) => cell.split("|").slice(0, 2).join("|")));
  const kinds = Object.keys(OPERATION_KINDS);
  return kinds.flatMap((kind) => PLACES.map((place) => `${kind}|${place}`)).filter((cell) => !met.has(cell));
}

test.runIf(isAsked)(
  "the same seeds are the same histories, wherever they are lived",
  async () => {
    const work = { ...PROOF, first: 500, count: 12 };
    const [one, two] = await Promise.all([runWorkers(work, 1), runWorkers(work, 2)]);
    expect(two.trace).toBe(one.trace);
    expect((await runWorkers({ ...work, first: 501 }, 1)).trace).not.toBe(one.trace);
  },
  PATIENCE_MS,
);

/** What is wrong, who noticed, and how soon. */
async function findOut({ name, mode = "both" }: Sabotage): Promise<{ seeds: number; invariant: string | undefined }> {
  const range = { first: 1, step: 1, count: SABOTAGE_SEEDS };
  const work: Work = { ...range, mode, sabotage: name, isMended: true, stopsAtViolation: true };
  const { seeds, failures } = await runWorker(work);
  return { seeds, invariant: failures[0]?.invariant };
}

test.runIf(isAsked).each(SABOTAGES)(
  "it is noticed: $name",
  async (sabotage) => {
    const { seeds, invariant } = await findOut(sabotage);
    write(`${sabotage.name.padEnd(70)} ${(invariant ?? "not noticed").padEnd(12)} ${seeds} seeds`);
    expect(sabotage.caughtBy).toContain(invariant);
  },
  PATIENCE_MS,
);

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}
