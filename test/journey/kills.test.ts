import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestSystem, type ProcessName, type TestSystem } from "./support/system.ts";

const PATIENCE = { timeout: 240_000 };

const START_PATIENCE_MS = 180_000;

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem();
}, START_PATIENCE_MS);
afterAll(() => system[Symbol.asyncDispose](), START_PATIENCE_MS);

/** Who is killed as soon as the demo says that. Every process once, at the step that needs it, or the one before. */
const KILLS: readonly (readonly [ProcessName, string])[] = [
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
  const demo = system.demo();
  await demo.hears("Deposit again");
  await system.restart("SIGKILL");
  expect(await demo.ended, demo.said() + system.said()).toBe(0);
});

/** Several CRMs at once, each of which also meets what the others' killers do. */
test.concurrent.each(KILLS)("every balance ties though %s is killed at: %s", PATIENCE, async (name, step) => {
  const demo = system.demo();
  await demo.hears(step);
  await system.kill(name);
  expect(await demo.ended, demo.said() + system.said()).toBe(0);
});
