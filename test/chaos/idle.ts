import { join } from "node:path";
import { expect, test } from "vitest";
import { postgresUrlOf } from "../bench/system/start-system.ts";
import { countStatements } from "../bench/system/statements.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

const MEASURE_MS = 4_000;
/** The checks of this system run every five seconds. `make bench part=idle` measures a system with usual settings. */
const MAX_PER_SECOND = 70;

/** Before any other test, because no traffic has begun. */
export function idle(tested: () => SystemUnderTest): void {
  test("no job of a system without traffic looks for work without a pause", async () => {
    const { stateDir } = tested().system;
    const server = { postgresUrl: postgresUrlOf(stateDir), postgresLog: join(stateDir, "log/postgres.log") };
    const perSecond = await countStatements(server, MEASURE_MS);
    const all = Object.values(perSecond).reduce((sum, count) => sum + count, 0);
    expect(all, JSON.stringify(perSecond)).toBeLessThanOrEqual(MAX_PER_SECOND);
    expect(perSecond["platform"]).toBeGreaterThan(0);
  });
}
