import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";

/** Pure code: no servers, hardly any time. Everything else is an integration test. */
const PURE = ["services/*/domain/**/*.test.ts", "services/kernel/*.test.ts", "test/reference/**/*.test.ts"];
const ALL = ["services/**/*.test.ts", "test/**/*.test.ts", "deploy/**/*.test.ts"];

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
      { extends: true, test: { name: "unit", include: PURE } },
      {
        extends: true,
        test: {
          name: "integration",
          include: ALL,
          exclude: ["**/node_modules/**", ...PURE],
          globalSetup: ["./test/support/servers.ts"],
        },
      },
    ],
  },
});
