import { expect } from "vitest";
import type { Live } from "./live.ts";
import { untilEqual } from "./until-equal.ts";
import { pooled } from "./run-example.ts";
import { paidTo } from "./examples.ts";
import * as steps from "./steps.ts";
import { inOneWeek, nextWeek } from "./weeks.ts";

/** Worked examples with open positions. */

export async function openLossAtTheCutOff(live: Live): Promise<void> {
  await steps.price(live, "1.10000");
  const pool = await pooled(live, ["10000"]);
  const position = await inOneWeek(live, async () => {
    await steps.result(live, pool.master, 1_000_00n);
    const opened = await steps.open(live, pool.master, "0.1");
    await steps.price(live, "1.06000");
    return opened;
  });
  await nextWeek(live);
  await untilEqual(live);
  await inOneWeek(live, async () => {
    await steps.price(live, "1.10500");
    await steps.close(live, pool.master, position);
  });
  await nextWeek(live);
  await untilEqual(live);
  expect(paidTo(pool)).toEqual(["180.00", "135.00"]);
}
