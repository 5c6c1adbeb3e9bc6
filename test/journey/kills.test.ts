import { afterAll, beforeAll, test } from "vitest";
import { type Kill, tellThroughRestart, tellWhileKilling } from "./support/kill-at-steps.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

const PATIENCE = { timeout: 240_000 };

const START_PATIENCE_MS = 180_000;

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem();
}, START_PATIENCE_MS);
afterAll(() => system[Symbol.asyncDispose](), START_PATIENCE_MS);

/** Every process once, at the step that needs it, or the one before. */
const KILLS: readonly Kill[] = [
  ["platform", "Deposit initial capital"],
  ["fee", "Assign both"],
  ["simulator", "Watch their capital appear"],
  ["edge", "Deposit again"],
  ["funding", "Withdraw: "],
  ["subscription", "Unassign: "],
  ["nats", "Watch PAUSED become"],
  ["postgres", "Deposit initial capital"],
  // Last, because a creation may take 30 s to be given up, and the demos that start together are all creating.
  ["account", "Create the Master"],
];

test("every balance ties though everything is killed at once and started again", PATIENCE, async () => {
  await tellThroughRestart(system, "lifecycle", "Deposit again");
});

/** Several CRMs at once, each of which also meets what the others' killers do. */
test.concurrent.each(KILLS)("every balance ties though %s is killed at: %s", PATIENCE, async (...kill) => {
  await tellWhileKilling(system, "lifecycle", [kill]);
});
