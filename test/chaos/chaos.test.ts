import { afterAll, beforeAll, describe, vi } from "vitest";
import { CROWD } from "../journey/support/crowd.ts";
import { sagasThroughDeaths } from "./failpoints.ts";
import { forgedRows } from "./forged-rows.ts";
import { idle } from "./idle.ts";
import { injectedFaults } from "./injected-faults.ts";
import { killedProcesses } from "./kills.ts";
import { restoredDatabase } from "./restored-database.ts";
import { startSystemUnderTest, type SystemUnderTest } from "./system-under-test.ts";
import { traces } from "./traces.ts";

// Set here, because vitest marks the options object of a concurrent test as concurrent, and so every test that shares the object.
vi.setConfig({ testTimeout: 600_000 + CROWD * 1_500 });
const START_TIMEOUT_MS = 180_000;

/** One system for everything that breaks one, because its start and stop take seconds of both cores. */
let running: SystemUnderTest & AsyncDisposable;
const tested = (): SystemUnderTest => running;

beforeAll(async () => {
  running = await startSystemUnderTest();
}, START_TIMEOUT_MS);
afterAll(() => running[Symbol.asyncDispose](), START_TIMEOUT_MS);

describe("a system without traffic", () => {
  idle(tested);
});
describe("traces and log lines of a deposit", () => {
  traces(tested);
});
describe("a database that is restored to an older time", () => {
  restoredDatabase(tested);
});
describe("forged rows", () => {
  forgedRows(tested);
});
describe("a saga whose process kills itself at a failpoint is finished, and each transfer is executed once", () => {
  sagasThroughDeaths(tested);
});
describe("after each fault every answer is correct and no transfer is executed twice", () => {
  injectedFaults(tested);
});
describe("processes that are killed", () => {
  killedProcesses(tested);
});
