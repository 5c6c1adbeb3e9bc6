import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { coverageSummary, coverageTable } from "./report/print-coverage.ts";
import { modeOf } from "./run-seeds.ts";
import type { Tally } from "./run-seeds.ts";
import { runWorkers, tellInThread } from "./run-workers.ts";
import type { Mode } from "./plan/plan.ts";

/**
 * node test/simulation/run.ts [--seed 1] [--seeds 1000] [--mode safety|liveness] [--threads 2] [--cells] [--as-is]
 *
 * One seed tells its history. Exit code 1 when any seed fails; the first that does is told, made as small as it gets.
 * Known defects of the services are mended in memory, unless everything is to be taken as it is.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1000" },
    mode: { type: "string" },
    threads: { type: "string", default: String(availableParallelism()) },
    cells: { type: "boolean", default: false },
    "as-is": { type: "boolean", default: false },
  },
});
const DAY_MS = 86_400_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const first = Number(values.seed);
  const count = Number(values.seeds);
  const mode = readMode(values.mode);
  const startedMs = performance.now();
  const sources = { sabotage: undefined, isMended: !values["as-is"] };
  const work = { ...sources, first, count, mode, stopsAtViolation: false };
  const tally = await runWorkers(work, Math.min(count, Number(values.threads)));
  report(tally, (performance.now() - startedMs) / 1_000);
  const [failure] = tally.failures;
  const told = failure ?? (count === 1 ? { seed: first, mode: mode === "both" ? modeOf(first) : mode } : undefined);
  if (told !== undefined) write(await tellInThread({ ...sources, tell: told.seed, mode: told.mode }));
  return failure === undefined ? 0 : 1;
}

function readMode(text: string | undefined): Mode | "both" {
  if (text === undefined) return "both";
  if (text === "safety" || text === "liveness") return text;
  throw new Error(`--mode is safety or liveness, not ${text}`);
}

function report({ seeds, steps, simulatedMs, hits, failures }: Tally, seconds: number): void {
  write(values.cells ? coverageTable(hits) : coverageSummary(hits));
  write("");
  for (const { seed, mode, invariant, message } of failures)
    write(`seed ${seed} (${mode}) breaks ${invariant}: ${message}`);
  const days = (simulatedMs / DAY_MS).toFixed(2);
  const rate = (seeds / seconds).toFixed(0);
  write(`${seeds} seeds, ${steps} steps, ${days} simulated days, ${rate} seeds/s, ${failures.length} failed`);
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}
