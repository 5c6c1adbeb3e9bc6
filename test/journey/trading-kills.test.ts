import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { IS_PROOF } from "../support/proof.ts";
import { type Kill, runDemoWhileKilling } from "../chaos/kill-during-demo.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

// Set here, because vitest marks the options object of a concurrent test as concurrent, and so every test that shares the object.
vi.setConfig({ testTimeout: 300_000 });

const START_TIMEOUT_MS = 180_000;

/** Three demos run at once. Only one at a time has open positions, because the simulator has one price. */
const KILLS: Readonly<Record<string, readonly Kill[]>> = {
  "allocation, sending, weekly fees": [
    ["subscription", "Monday: a profit"],
    ["platform", "The price rises further"],
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

/** Takes some minutes, because the demos wait for each other. In `make test`, crowd.test.ts and kills.test.ts kill processes. */
describe.runIf(IS_PROOF)("a fortnight of trading with killed processes", () => {
  let system: TestSystem;

  beforeAll(async () => {
    system = await startTestSystem({ PAMM_FEE_PERIOD: "PT20S", PAMM_VALUATION_INTERVAL: "PT1S" });
  }, START_TIMEOUT_MS);
  afterAll(() => system[Symbol.asyncDispose](), START_TIMEOUT_MS);

  test("every fee is correct after all processes are killed at once and restarted", async () => {
    await runDemoWhileKilling(system, "fortnight", [["everything", "A loss: "]]);
  });

  test.concurrent.each(Object.keys(KILLS))(
    "every fee is correct after processes are killed during: %s",
    async (name) => {
      await runDemoWhileKilling(system, "fortnight", KILLS[name] ?? []);
    },
  );
});
