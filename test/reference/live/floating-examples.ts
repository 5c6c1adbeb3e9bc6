import { expect } from "vitest";
import { dollars } from "../engine/cents.ts";
import type { Live } from "./live.ts";
import { untilEqual } from "./until-equal.ts";
import { newPooledInvestor, pooled } from "./run-example.ts";
import { paidTo } from "./examples.ts";
import * as steps from "./steps.ts";
import { inOneWeek, nextWeek } from "./weeks.ts";

/** Worked examples with open positions. They share one price, so they run one at a time. */

export async function depositWhileFloating(live: Live): Promise<void> {
  await steps.price(live, "1.10000");
  const profit = await pooled(live, ["1000"]);
  const rising = await steps.open(live, profit.master, "0.1");
  await steps.price(live, "1.14500");
  await newPooledInvestor(live, profit.master, "550");
  await steps.price(live, "1.24500");
  await steps.close(live, profit.master, rising);
  await untilEqual(live);

  await steps.price(live, "1.10000");
  const loss = await pooled(live, ["1000"]);
  const falling = await steps.open(live, loss.master, "0.1");
  await steps.price(live, "1.06000");
  const late = await newPooledInvestor(live, loss.master, "600");
  await steps.price(live, "1.10000");
  await steps.close(live, loss.master, falling);
  await untilEqual(live);
  expect([loss.investors[0]!, late].map(({ balance }) => dollars(balance))).toEqual(["800.00", "800.00"]);
}

export async function negativeCashCoveredByFloating(live: Live): Promise<void> {
  await steps.price(live, "1.10000");
  const { master, investors } = await pooled(live, ["1000"]);
  const position = await steps.open(live, master, "0.1");
  await steps.price(live, "1.05500");
  const late = await newPooledInvestor(live, master, "550");
  const both = [investors[0]!, late];
  await steps.result(live, master, -1_200_00n);
  await untilEqual(live);
  expect(both.map(({ balance, unposted }) => dollars(balance + unposted))).toEqual(["400.00", "-50.00"]);
  await steps.price(live, "1.17500");
  await steps.close(live, master, position);
  await untilEqual(live);
  expect(both.map(({ balance }) => dollars(balance))).toEqual(["550.00", "550.00"]);
}

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
