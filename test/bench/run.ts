/**
 * node test/bench/run.ts [part ...] [--quick] [--rounds 5] [--seconds 4] [--flows 100000] [--exits 10000]
 * [--minutes 20] [--out docs]
 *
 * Runs the named workloads, or all, and writes <out>/performance.md. Parts that are not named keep their last
 * figures. Exit code 1 when an invariant was violated or a workload failed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { Bench, type BenchSettings, NotMeasured, Violated, type Workload } from "./bench.ts";
import { describeMachine, flushesPerSecond, machineTicks, stealPercent } from "./machine.ts";
import { type Options, readOptions } from "./options.ts";
import { type Conditions, documentOf, type Result } from "./report/document.ts";
import { withMeasured } from "./report/scaling.ts";
import { Systems } from "./system/systems.ts";
import { WORKLOADS } from "./workloads.ts";

const ROOT = join(import.meta.dirname, "../..");

await main(readOptions(process.argv.slice(2)));

async function main(options: Options): Promise<void> {
  const known = WORKLOADS.map(({ name }) => name);
  const unknown = options.parts.filter((part) => !known.includes(part));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(", ")}; choose from ${known.join(", ")}`);
  // The documents change while the parts are measured.
  const changes = git("status", "--porcelain", "--", ".", ":!docs");
  const commit = `${git("rev-parse", "--short", "HEAD")}${changes === "" ? "" : "-dirty"}`;
  const chosen = WORKLOADS.filter(({ name }) => options.parts.length === 0 || options.parts.includes(name));
  await using systems = new Systems({ isQuick: options.isQuick });
  for (const [index, workload] of chosen.entries()) {
    try {
      const result = await measure(workload, { options, systems, commit });
      save(options.out, result);
      if ("violations" in result.outcome) process.exitCode = 1;
    } catch (error) {
      // The other workloads are measured nevertheless; this one keeps its last figures.
      process.stderr.write(`${workload.name}: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    } finally {
      await systems.release({ keepsLarge: chosen.slice(index + 1).some(({ isLarge }) => isLarge === true) });
    }
  }
}

type Run = { readonly options: Options; readonly systems: Systems; readonly commit: string };

async function measure(workload: Workload, { options, systems, commit }: Run): Promise<Result> {
  const { name, title, about } = workload;
  const print = (line: string): void => void process.stdout.write(`${name}: ${line}\n`);
  const startedMs = performance.now();
  const ticks = machineTicks();
  const flushes = flushesPerSecond(tmpdir());
  const outcome = await outcomeOf(workload, { options, print, system: systems.get, large: systems.getLarge });
  const seconds = (performance.now() - startedMs) / 1_000;
  print(`${verdictOf(outcome)}, ${seconds.toFixed(0)} s`);
  const conditions: Conditions = {
    command: ["node test/bench/run.ts", name, ...options.flags].join(" "),
    date: new Date().toISOString().slice(0, 10),
    commit,
    machine: describeMachine(),
    flushesPerSecond: flushes,
    stealPercent: stealPercent(ticks),
    seconds,
  };
  return { name, title, about, conditions, outcome };
}

/** A workload reports its figures only after everything that it sent was verified. */
async function outcomeOf(workload: Workload, settings: BenchSettings): Promise<Result["outcome"]> {
  await using bench = new Bench(settings);
  try {
    const section = await workload.run(bench);
    await bench.verify();
    return { section };
  } catch (error) {
    if (error instanceof NotMeasured) return { skipped: error.message };
    if (error instanceof Violated) return { violations: error.violations };
    throw error;
  }
}

function verdictOf(outcome: Result["outcome"]): string {
  if ("section" in outcome) return "measured";
  return "skipped" in outcome ? `not measured: ${outcome.skipped}` : `VIOLATED\n${outcome.violations.join("\n")}\n`;
}

/** Replaces the figures of one part, and writes the page from those of all parts. */
function save(out: string, result: Result): void {
  const folder = resolve(ROOT, out, "performance");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "results.json");
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Result[]) : [];
  const others = earlier.filter(({ name }) => name !== result.name);
  const order = ({ name }: Result): number => WORKLOADS.findIndex((workload) => workload.name === name);
  const results = [...others, result].toSorted((one, other) => order(one) - order(other));
  // A line for each part, so that a difference shows which parts were measured again.
  writeFileSync(file, `[\n${results.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`);
  writeFileSync(resolve(ROOT, out, "performance.md"), documentOf(results));
  const scaling = resolve(ROOT, out, "scaling.md");
  if (existsSync(scaling)) writeFileSync(scaling, withMeasured(readFileSync(scaling, "utf8"), results));
}

function git(...args: readonly string[]): string {
  return spawnSync("git", args, { cwd: ROOT, encoding: "utf8" }).stdout.trim();
}
