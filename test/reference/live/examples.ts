import { expect } from "vitest";
import { dollars } from "../engine/cents.ts";
import type { Investor } from "../engine/world.ts";
import { addLiveMaster, type Live } from "./live.ts";
import { untilEqual } from "./until-equal.ts";
import { type Pool, pooled } from "./run-example.ts";
import * as steps from "./steps.ts";
import { inOneWeek, nextWeek } from "./weeks.ts";

/** Worked examples of the accounting without open positions. */

export async function leavingWithProfit(live: Live): Promise<void> {
  const some = await pooled(live, ["10000"]);
  const all = await pooled(live, ["10000"]);
  const leaving = await pooled(live, ["5000"], 275_000n);
  await inOneWeek(live, async () => {
    await steps.result(live, some.master, 2_000_00n);
    await steps.withdraw(live, some.investors[0]!, 5_000_00n);
  });
  await inOneWeek(live, async () => {
    await steps.result(live, all.master, 2_000_00n);
    await steps.withdraw(live, all.investors[0]!, 12_000_00n);
  });
  await inOneWeek(live, async () => {
    await steps.result(live, leaving.master, 421_37n);
    await steps.unassign(live, leaving.investors[0]!, leaving.master);
  });
  await steps.result(live, some.master, 100_00n);
  await nextWeek(live);
  await untilEqual(live);
  expect([some, all, leaving].map(balanceOfFirst)).toEqual(["6470.00", "0.00", "5305.50"]);
  expect(leaving.master.payments).toMatchObject([{ suffix: "UA", cents: 115_87n }]);
}

/** A fee that finds no money becomes debt. The next fee at another Master pays the debt first, to the earlier Master. */
export async function debtToAnOldMaster(live: Live): Promise<void> {
  const old = await pooled(live, ["1000"], 500_000n);
  const [investor] = old.investors as [Investor];
  await inOneWeek(live, async () => {
    await steps.result(live, old.master, 400_00n);
    await steps.configure(live, investor, { enabled: false });
    await steps.withdraw(live, investor, 1_390_00n);
    await steps.configure(live, investor, { enabled: true });
  });
  await nextWeek(live);
  await untilEqual(live);
  expect(dollars(investor.balance)).toBe("0.00");
  await steps.unassign(live, investor, old.master);
  const next = await addLiveMaster(live);
  await steps.deposit(live, investor, 1_000_00n);
  await inOneWeek(live, async () => {
    await steps.assign(live, investor, next, { ratePpm: 500_000n, enabled: true });
    await steps.result(live, next, 10_00n);
    await steps.withdraw(live, investor, 5_000_00n);
  });
  expect(old.master.payments.map(({ suffix, cents }) => [suffix, cents])).toEqual([
    ["W", 10_00n],
    ["DEBT", 190_00n],
  ]);
  expect([old.master, next].map(({ paymentBalance }) => dollars(paymentBalance))).toEqual(["200.00", "5.00"]);
}

export function paidTo({ master }: Pool): string[] {
  return master.payments.map(({ cents }) => dollars(cents));
}

function balanceOfFirst({ investors: [first] }: Pool): string {
  return dollars(first!.balance);
}
