import { join } from "node:path";
import process from "node:process";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";
import { LongestFirst } from "./test/support/longest-first.ts";
import { Times } from "./test/support/times.ts";

/** Pure code: needs no server and hardly any time. Every other test is an integration test or a journey. */
const PURE = [
  "services/*/domain/**/*.test.ts",
  "services/catalogue/*.test.ts",
  "services/kernel/{batches,jobs,process,values}/*.test.ts",
  "services/client/*.test.ts",
  "test/docs/{catalogues,documents}.test.ts",
  "test/reference/**/*.test.ts",
  "test/simulation/mutants/*.test.ts",
  "deploy/alerts/**/*.test.ts",
  "deploy/client/**/*.test.ts",
  "deploy/compose/**/*.test.ts",
  "deploy/demo/**/*.test.ts",
  "deploy/k8s/**/*.test.ts",
];
/** Node does not read JSX, so Vite compiles these. */
const CONSOLE = ["services/console/**/*.test.{ts,tsx}"];
/** Tests that start all processes. They are the longest, so they begin first. */
const JOURNEYS = [
  "test/journey/**/*.test.ts",
  "test/chaos/**/*.test.ts",
  "test/conformance/**/*.test.ts",
  "test/docs/{commands,samples}.test.ts",
  "test/console/journey.test.ts",
  "test/console/charges.test.ts",
  "deploy/local/**/*.test.ts",
];
const ALL = ["services/**/*.test.ts", "test/**/*.test.ts", "deploy/**/*.test.ts"];

/** Tests mostly wait: for a commit, a broker, a fee week. Five of them keep two cores busy. */
const WORKERS = 5;

/** Node imports the sources as it does in the services, with a quarter less processor time than the module runner of Vite. */
const NATIVE = { viteModuleRunner: false, nodeLoader: false };

/** Generous: a machine of two cores may run several of these at once. */
const TEST_TIMEOUT_MS = 90_000;
const START_TIMEOUT_MS = 120_000;
/** A virtual machine may stand still for seconds. */
const POLL_TIMEOUT_MS = 30_000;

// Tests start hundreds of processes that compile the same sources.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, ".cache/compile");

export default defineConfig({
  test: {
    pool: "forks",
    // Modules keep no state between files, and loading them again for each file takes a quarter of the processor time.
    isolate: false,
    // Tests of a file run at the same time: one that begins must not clear what the spy of another one has recorded.
    clearMocks: false,
    reporters: ["default", new ClosingLine(), new Times()],
    passWithNoTests: false,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: START_TIMEOUT_MS,
    teardownTimeout: START_TIMEOUT_MS,
    expect: { poll: { timeout: POLL_TIMEOUT_MS } },
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "unit", include: PURE, experimental: NATIVE } },
      { extends: true, test: { name: "console", include: CONSOLE } },
      {
        extends: true,
        test: {
          name: "integration",
          include: ALL,
          exclude: ["**/node_modules/**", ...PURE, ...CONSOLE, ...JOURNEYS],
          experimental: NATIVE,
          globalSetup: ["./test/support/servers.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "journey",
          include: JOURNEYS,
          experimental: NATIVE,
          globalSetup: ["./test/journey/support/share-system.ts"],
        },
      },
    ],
  },
});
