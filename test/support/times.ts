import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Reporter, TestModule } from "vitest/node";

const SLOWEST = 20;
/** Shorter files cost the order nothing. */
const LEAST_SECONDS = 1;
const FILE = join(import.meta.dirname, "../../.cache/times.json");

/** Prints the files that took longest, and writes the seconds of each in `.cache/times.json`. `make times` takes them over. */
export class Times implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules
      .map((module) => ({ file: module.relativeModuleId, seconds: secondsOf(module) }))
      .toSorted((left, right) => right.seconds - left.seconds);
    const listed = times.filter(({ seconds }) => seconds >= LEAST_SECONDS);
    mkdirSync(join(FILE, ".."), { recursive: true });
    writeFileSync(
      FILE,
      `${JSON.stringify(Object.fromEntries(listed.map(({ file, seconds }) => [file, seconds])), null, 2)}\n`,
    );
    const lines = times.slice(0, SLOWEST).map(({ file, seconds }) => `${String(seconds).padStart(7)} s  ${file}\n`);
    const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
    process.stdout.write(
      `\nThe slowest of ${times.length} files, of ${Math.round(total)} s in all workers:\n${lines.join("")}`,
    );
  }
}

/** Loading, hooks and tests. */
function secondsOf(module: TestModule): number {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } = module.diagnostic();
  return Math.round(collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration) / 1000;
}
