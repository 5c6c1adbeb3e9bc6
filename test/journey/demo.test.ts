import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { IS_PROOF } from "../support/proof.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { demoWithoutSystem, type RunningSystem } from "./support/system.ts";

const TIMEOUT_MS = 300_000;
const MATCHED = /Every balance matches to the cent\./g;

let system: RunningSystem;

beforeAll(async () => {
  system = await sharedSystem();
}, START_TIMEOUT_MS);

type Entry = {
  readonly time: string;
  readonly level: string;
  readonly service: string;
  readonly msg: string;
  readonly error?: unknown;
};

/** Log entries of all services until the system was ready; Postgres and the broker write other formats. */
function logsOfStart(stateDir: string): readonly Entry[] {
  const readyAt = statSync(join(stateDir, "run/system.json")).mtime;
  const folder = join(stateDir, "log");
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
  const entries = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Entry);
  return entries.filter(({ time }) => new Date(time) <= readyAt);
}

test("a clean start logs only info entries, and no error", () => {
  const entries = logsOfStart(system.stateDir);

  expect(entries.filter(({ msg }) => msg === "started").map(({ service }) => service)).toHaveLength(7);
  expect(entries.filter(({ level, error }) => level !== "info" || error !== undefined)).toEqual([]);
});

/** In `make test` each scenario runs in another test: `trading.test.ts`, and `test/chaos/kills.ts` while processes are killed. */
test.runIf(IS_PROOF)("every balance matches at the end of the demo", { timeout: TIMEOUT_MS }, async () => {
  const demo = system.demo();
  expect(await demo.ended, demo.output()).toBe(0);
  expect(demo.output().match(MATCHED)).toHaveLength(2);
  // The fee weeks of the system are long, so the scenario of two weeks runs on a separate system.
  expect(demo.output()).toContain("a fee week lasts 15 s here");
  expect(demo.output()).not.toContain(`Two weeks of trading on ${system.info().url}`);
});

/** On a system of its own: as long as both scenarios together. */
test.runIf(IS_PROOF)("the year of the showcase ends converged", { timeout: TIMEOUT_MS }, async () => {
  const showcase = system.demo("showcase", "--weeks", "4", "--investors", "3", "--end");
  expect(await showcase.ended, showcase.output()).toBe(0);
  for (const shown of ["Harbour is converged", "Ridge is converged", "Spark is archived", "750.00 on the Investor"]) {
    expect(showcase.output()).toContain(shown);
  }
});

test("a demo without a running system prints how to start one", async () => {
  const demo = demoWithoutSystem();
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toMatch(/^make demo: no running system is known in .*: start one with "make run".*\n$/);
});
