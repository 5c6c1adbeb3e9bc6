import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPools } from "../bench/system/accounts.ts";
import { startSystem } from "../bench/system/start-system.ts";
import { countStatements } from "../bench/system/statements.ts";
import { IS_PROOF } from "../support/proof.ts";

/** The work of the preparation ends. */
const SETTLE_MS = 20_000;
/** The interval of most checks, so that each counts once. */
const MEASURE_MS = 60_000;
const MAX_PER_SECOND = 10;

test.runIf(IS_PROOF)(
  "a system without traffic makes at most ten statements per second",
  { timeout: 240_000 },
  async () => {
    await using system = await startSystem();
    await createPools(system.client, 1, 1);
    await sleep(SETTLE_MS);
    const perSecond = await countStatements(system, MEASURE_MS);
    const all = Object.values(perSecond).reduce((sum, count) => sum + count, 0);
    expect(all, JSON.stringify(perSecond)).toBeLessThanOrEqual(MAX_PER_SECOND);
    // Something was counted.
    expect(perSecond["platform"]).toBeGreaterThan(0);
  },
);
