import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Mode } from "./plan/plan.ts";
import { coverageSummary, coverageTable } from "./report/print-coverage.ts";
import { printTally } from "./report/print-tally.ts";
import { modeOf } from "./run-seeds.ts";
import { runWorkers, tellInThread } from "./run-workers.ts";

/**
 * node test/simulation/run.ts [--seed 1] [--seeds 2000] [--mode safety|liveness] [--threads 2] [--cells]
 *
 * A seed alone is one history, which is told. Exit code 1 when any seed fails; the first that does is told, made as small
 * as it gets.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    mode: { type: "string" },
    threads: { type: "string" },
    cells: { type: "boolean", default: false },
  },
});
const USUAL_SEEDS = 2_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const first = readNumber("seed", values.seed ?? "1");
  const count = readNumber("seeds", values.seeds ?? (values.seed === undefined ? String(USUAL_SEEDS) : "1"));
  const threads = readNumber("threads", values.threads ?? String(availableParallelism()));
  const mode = readMode(values.mode);
  const startedMs = performance.now();
  const work = { mutant: undefined, first, count, mode, stopsAtViolation: false };
  const tally = await runWorkers(work, Math.min(count, threads));
  const seconds = (performance.now() - startedMs) / 1_000;
  const [failure] = tally.failures;
  const told = failure ?? (count === 1 ? { seed: first, mode: mode === "both" ? modeOf(first) : mode } : undefined);
  if (count > 1) write(values.cells ? coverageTable(tally.hits) : coverageSummary(tally.hits));
  if (told !== undefined) write(await tellInThread({ mutant: undefined, tell: told.seed, mode: told.mode }));
  write(`\n${printTally(tally, seconds)}`);
  return failure === undefined ? 0 : 1;
}

function readMode(text: string | undefined): Mode | "both" {
  if (text === undefined) return "both";
  if (text === "safety" || text === "liveness") return text;
  throw new Error(`--mode is safety or liveness, not ${text}`);
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1 on, not ${text}`);
  return value;
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}
