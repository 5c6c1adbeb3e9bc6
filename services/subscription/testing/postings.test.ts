import { expect, test } from "vitest";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { deposit, holdForWithdrawal, release } from "./funding.ts";
import { inBucket } from "./ledger.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { isPosting, postingsAtPlatform } from "./postings-at-platform.ts";
import { settle, settleAndReconcile, aPair } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, passTime } from "./world.ts";
import { postUnderLock } from "../processes/posting/send-postings.ts";

async function aPool(deposited: bigint) {
  const pair = await aPair(deposited);
  const { world, masterLogin, investorLogin } = pair;
  return {
    ...pair,
    master: trader(world, masterLogin),
    balance: () => balanceOf(world.platform.ledger, investorLogin),
  };
}

test("a loss debits an account down to 0.00 at most; the rest is netted with later results", async () => {
  const { world, master, balance, masterLogin } = await aPool(100_00n);
  master.result(-130_00n);
  await settleAndReconcile(world);
  expect(balance()).toBe(0n);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([-30_00n]);
  master.result(45_00n);
  await settleAndReconcile(world);
  expect(balance()).toBe(15_00n);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([0n]);
  expect(postingsAtPlatform(world)).toEqual(["1: -10000 applied", "2: 1500 applied"]);
});

test("a loss beyond the capital is not taken from a deposit, but posted when the share is above zero again", async () => {
  const { world, master, balance, investorLogin } = await aPool(100_00n);
  master.result(-130_00n);
  await settle(world);
  await deposit(world, investorLogin, 50_00n);
  await passTime(world, 1_000);
  await settleAndReconcile(world);
  expect(balance()).toBe(50_00n);
  master.result(50_00n);
  await settleAndReconcile(world);
  expect(balance()).toBe(70_00n);
});

test("a posting on a busy account is retried under its key, and later results go into the next posting", async () => {
  const { world, master, balance, investorLogin } = await aPool(100_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 1_00n);
  master.result(10_00n);
  await settle(world);
  master.result(7_00n);
  await settleAndReconcile(world);
  expect(balance()).toBe(100_00n);
  await release(world, withdrawal);
  await passTime(world, 2_000);
  await settleAndReconcile(world);
  expect(balance()).toBe(117_00n);
  expect(postingsAtPlatform(world)).toEqual(["1: 1000 applied", "2: 700 applied"]);
});

test("the amount of a finally refused posting goes into the next one, after a pause", async () => {
  const { world, master, balance } = await aPool(100_00n);
  world.platform.rules.refuse = (request) => (isPosting(request) ? "platform_rejected" : undefined);
  master.result(10_00n);
  await settle(world);
  expect(postingsAtPlatform(world)).toEqual(["1: 1000 refused: platform_rejected"]);
  world.platform.rules.refuse = () => undefined;
  // The pause of a second is a minute here, so that it cannot end on a slow machine before the jobs have run.
  await passTime(world, -MINUTE_MS);
  await settle(world);
  expect(postingsAtPlatform(world)).toEqual(["1: 1000 refused: platform_rejected"]);
  await passTime(world, MINUTE_MS + 1_000);
  await settleAndReconcile(world);
  expect(postingsAtPlatform(world)).toEqual(["1: 1000 refused: platform_rejected", "2: 1000 applied"]);
  expect(balance()).toBe(110_00n);
});

test("a posting with an unknown outcome is retried under its key and applied once", async () => {
  const { world, master, balance } = await aPool(100_00n);
  world.platform.rules.delay = isPosting;
  master.result(10_00n);
  await settle(world);
  await passTime(world, 5_000);
  await settle(world);
  expect(balance()).toBe(100_00n);
  world.platform.rules.delay = () => false;
  executeWaiting(world.platform);
  await passTime(world, 5_000);
  await settleAndReconcile(world);
  expect(balance()).toBe(110_00n);
  expect(postingsAtPlatform(world)).toEqual(["1: 1000 applied"]);
});

test("a result above the maximum of one transfer is posted in parts", async () => {
  const { world, master, balance } = await aPool(100_00n);
  master.result(150_000_000_000n);
  master.result(100_000_000_000n);
  await settleAndReconcile(world);
  expect(balance()).toBe(250_000_010_000n);
  expect(postingsAtPlatform(world)).toEqual([
    "1: 100000000000 applied",
    "2: 100000000000 applied",
    "3: 50000000000 applied",
  ]);
});

test("results that need more postings than one call sends are not reported as posted before the last one", async () => {
  const { world, investorLogin: login, masterLogin } = await aPool(100_00n);
  const { lockOwner } = await holdForWithdrawal(world, login, 1_00n);
  await execute(
    world.deps.pool,
    sql`update investor_account set unposted_minor = ${21n * MAX_AMOUNT.minor} where login = ${login}`,
  );
  expect(await postUnderLock(world.deps, { login, lockOwner }, aCall())).toBe(false);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([MAX_AMOUNT.minor]);
  expect(await postUnderLock(world.deps, { login, lockOwner }, aCall())).toBe(true);
});
