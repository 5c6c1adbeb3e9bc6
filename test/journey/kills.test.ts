import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestSystem, type ProcessName, type TestSystem } from "./support/system.ts";

const PATIENCE = { timeout: 240_000 };

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem();
});
afterAll(() => system[Symbol.asyncDispose]());

/** Who is killed as soon as the demo says that. Every process once, at the step that needs it, or the one before. */
const KILLS: readonly (readonly [ProcessName, string])[] = [
  ["account", "Create the Master"],
  ["platform", "Deposit initial capital"],
  ["fee", "Assign both"],
  ["simulator", "Watch their capital appear"],
  ["edge", "Deposit again"],
  ["funding", "Withdraw: "],
  ["subscription", "Unassign: "],
  ["nats", "Watch PAUSED become"],
  ["postgres", "Deposit initial capital"],
];

/** Several CRMs at once, each of which also meets what the others' killers do. */
test.concurrent.each(KILLS)("every balance ties though %s is killed at: %s", PATIENCE, async (name, step) => {
  const demo = system.demo();
  await demo.hears(step);
  await system.kill(name);
  expect(await demo.ended, demo.said() + system.said()).toBe(0);
});
