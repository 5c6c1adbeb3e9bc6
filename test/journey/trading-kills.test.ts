import { afterAll, beforeAll, describe, test } from "vitest";
import { IS_PROOF } from "../support/proof.ts";
import { type Kill, tellThroughRestart, tellWhileKilling } from "./support/kill-at-steps.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";

const TIMEOUT = { timeout: 300_000 };

const START_TIMEOUT_MS = 180_000;

/** Three demos at once, which take turns with the one price that there is. */
const KILLS: Readonly<Record<string, readonly Kill[]>> = {
  "who splits, who sends, who charges": [
    ["subscription", "Monday: a profit"],
    ["platform", "The price moves on"],
    ["fee", "The week ends: the regular run"],
  ],
  "the database, the platform's other side, who pays out": [
    ["postgres", "A loss: "],
    ["simulator", "A recovery"],
    ["funding", "Ada withdraws"],
  ],
  "the broker, who closes the week, who collects": [
    ["nats", "Cleo comes"],
    ["subscription", "The second week ends"],
    ["fee", "Ben leaves"],
  ],
};

/** Minutes of demos that take turns. `make test` kills during trading in crowd.test.ts and kills.test.ts. */
describe.runIf(IS_PROOF)("a fortnight of trading, killed again and again", () => {
  let system: TestSystem;

  beforeAll(async () => {
    system = await startTestSystem({ PAMM_FEE_PERIOD: "PT20S" });
  }, START_TIMEOUT_MS);
  afterAll(() => system[Symbol.asyncDispose](), START_TIMEOUT_MS);

  test("every fee is right though everything is killed at once and started again", TIMEOUT, async () => {
    await tellThroughRestart(system, "fortnight", "A loss: ");
  });

  test.concurrent.each(Object.keys(KILLS))("every fee is right though they are killed: %s", TIMEOUT, async (who) => {
    await tellWhileKilling(system, "fortnight", KILLS[who] ?? []);
  });
});
