import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Reporter, TestModule } from "vitest/node";
import { IS_PROOF } from "./proof.ts";

const SLOWEST = 20;
/** The order of shorter files costs nothing. */
const LEAST_SECONDS = 2;
/** A run of fewer files is not one of all tests. */
const WHOLE_RUN_FILES = 400;
const RECORD = join(import.meta.dirname, "../../.cache/times.json");

type Seconds = readonly (readonly [file: string, seconds: number])[];

/** Prints the files that took longest. A run of all tests records the seconds of each in `.cache`, from where `make times` takes them. */
export class Times implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules
      .map((module) => [module.relativeModuleId, secondsOf(module)] as const)
      .toSorted(([, left], [, right]) => right - left);
    if (times.length >= WHOLE_RUN_FILES && !IS_PROOF) record(times);
    const lines = times.slice(0, SLOWEST).map(([file, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${file}\n`);
    const all = times.reduce((sum, [, seconds]) => sum + seconds, 0);
    process.stdout.write(
      `\nThe slowest of ${times.length} files, which took ${Math.round(all)} s together:\n${lines.join("")}`,
    );
  }
}

function record(times: Seconds): void {
  const longest = times.filter(([, seconds]) => seconds >= LEAST_SECONDS);
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(longest), null, 2)}\n`);
}

/** Of its modules, hooks and tests. */
function secondsOf(module: TestModule): number {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } = module.diagnostic();
  const ms = collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration;
  return Math.round(ms / 100) / 10;
}
