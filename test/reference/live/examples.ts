import { expect } from "vitest";
import { centsOf, dollars } from "../engine/cents.ts";
import type { Investor } from "../engine/world.ts";
import * as broker from "./broker.ts";
import { addLiveMaster, type Live } from "./live.ts";
import { untilEqual } from "./until-equal.ts";
import { newPooledInvestor, type Pool, pooled } from "./run-example.ts";
import * as steps from "./steps.ts";
import { inOneWeek, nextWeek } from "./weeks.ts";

/** Worked examples of the accounting without open positions. */

export async function threeEqualInvestors(live: Live): Promise<void> {
  const { master, investors } = await pooled(live, ["1000", "1000", "1000"]);
  for (const cents of [100_00n, 100_00n, 100_00n, 100_00n, -100_00n, 1n]) await steps.result(live, master, cents);
  await untilEqual(live);
  const [first] = investors;
  expect(first!.balance + master.paymentBalance).toBeGreaterThan(1_100_00n);
}

export async function weeksOfOneInvestorEach(live: Live): Promise<void> {
  const weeks = [
    ["1000", "500"],
    ["1000", "-600", "400", "500"],
    ["0.03", "0.01"],
  ];
  const pools: (Pool & { readonly results: readonly string[] })[] = [];
  for (const results of weeks) pools.push({ ...(await pooled(live, ["10000"])), results });
  for (const week of [0, 1, 2, 3]) {
    await inOneWeek(live, async () => {
      for (const { master, results } of pools) {
        const amount = results[week];
        if (amount !== undefined) await steps.result(live, master, centsOf(amount));
      }
    });
  }
  await nextWeek(live);
  await untilEqual(live);
  expect(pools.map(paidTo)).toEqual([["300.00", "150.00"], ["300.00", "90.00"], ["0.01"]]);
  expect(pools.map(balanceOfFirst)).toEqual(["11050.00", "10910.00", "10000.03"]);
}

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

export async function rateInsideTheWeek(live: Live): Promise<void> {
  const plain = await pooled(live, ["10000"], 200_000n);
  const variant = await pooled(live, ["10000"], 200_000n);
  const both = [plain, variant];
  await inOneWeek(live, async () => {
    for (const { master } of both) await steps.result(live, master, 1_000_00n);
    for (const { investors } of both) await steps.configure(live, investors[0]!, { ratePpm: 300_000n });
    for (const { master } of both) await steps.result(live, master, 500_00n);
    await steps.result(live, variant.master, -700_00n);
  });
  await nextWeek(live);
  await steps.result(live, variant.master, 300_00n);
  await nextWeek(live);
  await untilEqual(live);
  expect(both.map(paidTo)).toEqual([["350.00"], ["160.00", "90.00"]]);
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

/** A stop-out takes more than the pool has: what is deposited meanwhile waits, and the platform pays the whole hole. */
export async function stopOutCompensated(live: Live): Promise<void> {
  const { master, investors } = await pooled(live, ["1000", "1000"]);
  const [one, two] = investors as [Investor, Investor];
  await steps.result(live, master, -2_500_00n);
  await untilEqual(live);
  await steps.deposit(live, two, 340_00n);
  await steps.withdraw(live, two, 40_00n);
  expect([one, two].map(({ balance, unposted }) => [balance, unposted].map(dollars))).toEqual([
    ["0.00", "-250.00"],
    ["300.00", "-250.00"],
  ]);
  await broker.protect(live, master);
  expect([one.balance, two.balance, master.balance].map(dollars)).toEqual(["0.00", "300.00", "300.00"]);
  await steps.unassign(live, one, master);
  await steps.unassign(live, two, master);
}

/** What a dealer pays for a wrong price goes to those that had the loss; no fee is paid on what was lost and came back. */
export async function repairedResult(live: Live): Promise<void> {
  const votes = await broker.openVotes(live);
  const { master, investors } = await pooled(live, ["6000", "4000"]);
  const [one, two] = investors as [Investor, Investor];
  await steps.result(live, master, -1_000_00n);
  await untilEqual(live);
  const repaired = master.results.at(-1);
  const late = await newPooledInvestor(live, master, "9000");
  await broker.moveOwn(live, master, 1_000_00n);
  expect(await broker.repairBy(live, master, votes, repaired)).toBe(true);
  expect([one, two, late].map(({ balance }) => dollars(balance))).toEqual(["6000.00", "4000.00", "9000.00"]);
  await steps.result(live, master, 190_00n);
  await nextWeek(live);
  await untilEqual(live);
  expect(master.payments.map(({ cents }) => dollars(cents))).toEqual(["18.00", "12.00", "27.00"]);
  await steps.result(live, master, -100_00n);
  await broker.moveOwn(live, master, 50_00n);
  expect(await broker.repairBy(live, master, votes)).toBe(true);
}

/** What an agent earns is own capital of the Master; a charge of the broker on an Investor lowers its share. */
export async function agentsAndCharges(live: Live): Promise<void> {
  const { master, investors } = await pooled(live, ["1000", "1000"]);
  const [one, two] = investors as [Investor, Investor];
  await broker.charge(live, one, 15_00n);
  await steps.result(live, master, 200_00n);
  await untilEqual(live);
  expect([one, two].map(({ balance }) => dollars(balance))).toEqual(["1084.24", "1100.76"]);
  await broker.earnAsAgent(live, master, 500_00n);
  await steps.result(live, master, 100_00n);
  await nextWeek(live);
}

/** The Master loses more than the pool has: each Investor's ledger is negative by its exact share, and recovers from there. */
export async function lossBeyondThePool(live: Live): Promise<void> {
  const { master, investors } = await pooled(live, ["1000", "500"]);
  const [one, two] = investors as [Investor, Investor];
  await steps.result(live, master, -1_800_00n);
  await untilEqual(live);
  expect([one, two].map(({ unposted }) => dollars(unposted))).toEqual(["-200.00", "-100.00"]);
  await steps.unassign(live, one, master);
  await steps.withdraw(live, two, 1_00n);
  await steps.deposit(live, one, 500_00n);
  await steps.result(live, master, 90_00n);
  await steps.deposit(live, two, 250_00n);
  await steps.result(live, master, 54_00n);
  await untilEqual(live);
  await steps.unassign(live, two, master);
}

/** An Investor that returns to a Master continues with its earlier high-water mark and carry. */
export async function returningInvestor(live: Live): Promise<void> {
  const { master, investors } = await pooled(live, ["1000", "1000", "1000"]);
  const [one] = investors as [Investor];
  await steps.result(live, master, 100_00n);
  await steps.unassign(live, one, master);
  await steps.result(live, master, -50_01n);
  await steps.assign(live, one, master, { ratePpm: 300_000n, enabled: true });
  await steps.result(live, master, -77_77n);
  await steps.result(live, master, 200_00n);
  await nextWeek(live);
  await newPooledInvestor(live, master, "0.05");
  await steps.result(live, master, 33n);
  await steps.withdraw(live, one, 99_999_00n);
  await steps.result(live, master, 10n);
}

export function paidTo({ master }: Pool): string[] {
  return master.payments.map(({ cents }) => dollars(cents));
}

export function balanceOfFirst({ investors: [first] }: Pool): string {
  return dollars(first!.balance);
}
