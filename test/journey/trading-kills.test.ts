import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { IS_PROOF } from "../support/proof.ts";
import { type Kill, runDemoThroughRestart, runDemoWhileKilling } from "./support/kill-during-demo.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

// Not an options object of the tests: vitest marks the one that a concurrent test is given, and so each test that shares it.
vi.setConfig({ testTimeout: 300_000 });

const START_TIMEOUT_MS = 180_000;

/** Three demos at the same time; they trade in turn, because the simulator has one price. */
const KILLS: Readonly<Record<string, readonly Kill[]>> = {
  "allocation, sending, weekly fees": [
    ["subscription", "Monday: a profit"],
    ["platform", "The price moves on"],
    ["fee", "The week ends: the regular run"],
  ],
  "the database, the simulator, withdrawals": [
    ["postgres", "A loss: "],
    ["simulator", "A recovery"],
    ["funding", "Ada withdraws"],
  ],
  "the broker, the close of the week, collection": [
    ["nats", "Cleo is assigned"],
    ["subscription", "The second week ends"],
    ["fee", "Ben is unassigned"],
  ],
};

/** Takes some minutes, because the demos trade in turn. `make test` kills during trading in crowd.test.ts and kills.test.ts. */
describe.runIf(IS_PROOF)("a fortnight of trading with killed processes", () => {
  let system: TestSystem;

  beforeAll(async () => {
    system = await startTestSystem({ PAMM_FEE_PERIOD: "PT20S" });
  }, START_TIMEOUT_MS);
  afterAll(() => system[Symbol.asyncDispose](), START_TIMEOUT_MS);

  test("every fee is correct after all processes are killed at once and restarted", async () => {
    await runDemoThroughRestart(system, "fortnight", "A loss: ");
  });

  test.concurrent.each(Object.keys(KILLS))(
    "every fee is correct after processes are killed during: %s",
    async (name) => {
      await runDemoWhileKilling(system, "fortnight", KILLS[name] ?? []);
    },
  );
});
