import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestSystem, type ProcessName, type TestSystem } from "./support/system.ts";

const PATIENCE = { timeout: 300_000 };

const START_PATIENCE_MS = 180_000;

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem({ PAMM_FEE_PERIOD: "PT20S" });
}, START_PATIENCE_MS);
afterAll(() => system[Symbol.asyncDispose](), START_PATIENCE_MS);

type Kill = readonly [ProcessName, string];

/** Who is killed as soon as the demo says that. Every process once, at the step that needs it, or the one before. */
const IN_A_LIFE: readonly Kill[] = [
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

/** Three at once: they take turns with the one price that there is. */
const IN_A_FORTNIGHT: readonly (readonly Kill[])[] = [
  [
    ["subscription", "Monday: a profit"],
    ["platform", "The price moves on"],
    ["fee", "The week ends: the regular run"],
  ],
  [
    ["postgres", "A loss: "],
    ["simulator", "A recovery"],
    ["funding", "Ada withdraws"],
  ],
  [
    ["nats", "Cleo comes"],
    ["subscription", "The second week ends"],
    ["fee", "Ben leaves"],
  ],
];

describe.each(["lifecycle", "fortnight"])("the %s", (story) => {
  const middle = story === "lifecycle" ? "Deposit again" : "A loss: ";

  test("every balance ties though everything is killed at once and started again", PATIENCE, async () => {
    const demo = system.demo(story);
    await demo.hears(middle);
    await system.restart("SIGKILL");
    expect(await demo.ended, demo.said() + system.said()).toBe(0);
  });
});

/** Several CRMs at once, each of which also meets what the others' killers do. */
describe("lives", () => {
  test.concurrent.each(IN_A_LIFE)("every balance ties though %s is killed at: %s", PATIENCE, async (name, step) => {
    const demo = system.demo("lifecycle");
    await demo.hears(step);
    await system.kill(name);
    expect(await demo.ended, demo.said() + system.said()).toBe(0);
  });
});

describe("fortnights", () => {
  test.concurrent.each(IN_A_FORTNIGHT.map((kills) => ({ kills })))(
    "every balance ties and every fee is right though they are killed: $kills",
    PATIENCE,
    async ({ kills }) => {
      const demo = system.demo("fortnight");
      for (const [name, step] of kills) {
        await demo.hears(step);
        await system.kill(name);
      }
      expect(await demo.ended, demo.said() + system.said()).toBe(0);
    },
  );
});
