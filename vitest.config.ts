import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";

/** Pure code: no servers, hardly any time. Everything else is an integration test. */
const PURE = [
  "services/*/domain/**/*.test.ts",
  "services/kernel/*.test.ts",
  "test/reference/**/*.test.ts",
  "test/docs/{documents,markdown}.test.ts",
];
/** The whole system, whose fee weeks last seconds: nothing else runs beside these. */
const JOURNEYS = [
  "test/journey/**/*.test.ts",
  "test/chaos/**/*.test.ts",
  "test/docs/commands.test.ts",
  "deploy/**/*.test.ts",
];
const ALL = ["services/**/*.test.ts", "test/**/*.test.ts", ...JOURNEYS];

/** Tests mostly wait: for a commit, a broker, a clock. */
const SIDE_BY_SIDE = 2;

/** Generous: a machine of two cores may be running several of these at once. */
const TEST_TIMEOUT_MS = 30_000;
const START_TIMEOUT_MS = 60_000;

export default defineConfig({
  test: {
    pool: "forks",
    reporters: ["default", new ClosingLine()],
    passWithNoTests: false,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: START_TIMEOUT_MS,
    teardownTimeout: START_TIMEOUT_MS,
    projects: [
      { extends: true, test: { name: "unit", include: PURE, maxWorkers: SIDE_BY_SIDE } },
      {
        extends: true,
        test: {
          name: "integration",
          include: ALL,
          exclude: ["**/node_modules/**", ...PURE, ...JOURNEYS],
          globalSetup: ["./test/support/servers.ts"],
          maxWorkers: SIDE_BY_SIDE,
        },
      },
      {
        extends: true,
        test: {
          name: "journey",
          include: JOURNEYS,
          globalSetup: ["./test/support/servers.ts"],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
