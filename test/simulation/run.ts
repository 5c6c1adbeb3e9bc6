import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Mode } from "./plan/plan.ts";
import { modeOf, printTally } from "./run-seeds.ts";
import { inThread, runWorkers } from "./run-workers.ts";

/**
 * node test/simulation/run.ts [--seed 1] [--seeds 2000] [--mode safety|liveness] [--threads 2]
 *
 * `--seed` without `--seeds` runs one history and prints its events. Exit code 1 when any seed fails; the first failing one
 * is reduced to the smallest history that still fails, and printed.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    mode: { type: "string" },
    threads: { type: "string" },
  },
});
const DEFAULT_SEEDS = 2_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const first = readNumber("seed", values.seed ?? "1");
  const count = readNumber("seeds", values.seeds ?? (values.seed === undefined ? String(DEFAULT_SEEDS) : "1"));
  const threads = readNumber("threads", values.threads ?? String(availableParallelism()));
  const mode = readMode(values.mode);
  const startedMs = performance.now();
  const work = { mutant: undefined, first, count, mode, stopsAtViolation: false };
  const tally = await runWorkers(work, Math.min(count, threads));
  const seconds = (performance.now() - startedMs) / 1_000;
  const [failure] = tally.failures;
  const described =
    failure ?? (count === 1 ? { seed: first, mode: mode === "both" ? modeOf(first) : mode } : undefined);
  if (described !== undefined) {
    write(await inThread({ mutant: undefined, describe: described.seed, mode: described.mode }));
  }
  write(`\n${printTally(tally, seconds)}`);
  return failure === undefined ? 0 : 1;
}

function readMode(text: string | undefined): Mode | "both" {
  if (text === undefined) return "both";
  if (text === "safety" || text === "liveness") return text;
  throw new Error(`--mode must be safety or liveness, not ${text}`);
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new Error(`--${name} must be a whole number of at least 1, not ${text}`);
  }
  return value;
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}
