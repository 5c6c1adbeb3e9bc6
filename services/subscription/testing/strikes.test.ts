import assert from "node:assert/strict";
import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { lockMaster } from "../store/masters.ts";
import { countMarketWaits } from "../store/market-waits.ts";
import { lockHoldings } from "../store/holdings.ts";
import { lockUnitPool, saveUnitPool } from "../store/unit-pools.ts";
import { expectBooksToReconcile } from "./books.ts";
import { deposit, takeFee } from "./funding.ts";
import { inBucket, proofOf } from "./ledger.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { SYMBOL, trader } from "./trader.ts";
import { aMaster, aWorld, passTime } from "./world.ts";

test("a strike waits only for locks of the Investors whose units it changes", async () => {
  const { world, ...joining } = await aPair(1_000_00n);
  const { masterLogin } = joining;
  const other = await subscribed(world, masterLogin, 1_000_00n);
  trader(world, masterLogin).open();
  await inTransaction(world.deps.pool, async (tx) => {
    await lockHoldings(tx, [other.id]);
    await deposit(world, joining.investorLogin, 500_00n);
    await settle(world);
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_500_00n, 1_000_00n]);
  });
  await expectBooksToReconcile(world);
});

test("a fee that is filed while the pool is saved and the saved pool are both kept", async () => {
  const { world, ...one } = await aPair(1_000_00n);
  const { masterLogin } = one;
  const other = await subscribed(world, masterLogin, 1_000_00n);
  await inTransaction(world.deps.pool, async (tx) => {
    const master = await lockMaster(tx, masterLogin);
    const before = await lockUnitPool(tx, master!);
    const fee = { kind: MovementKind.FEE_DEBIT, amount: -750_00n, key: "fee:payment:1" };
    enter(world.platform.ledger, other.investorLogin, fee);
    await deliver(world);
    const [first, second] = before.holdings;
    assert(first !== undefined && second !== undefined);
    const holdings = [
      { ...first, pooled: first.pooled + 3_00n, carry: 5n },
      { ...second, pooled: second.pooled - 3_00n, carry: -5n },
    ];
    await saveUnitPool(tx, masterLogin, { before, after: { ...before, holdings } });
  });
  const written = await many(
    world.deps.pool,
    sql`select subscription_id as id, pooled_minor as pooled, unredeemed_minor as unredeemed, carry_e8 as carry
        from holding
        order by subscription_id`,
  );
  expect(written).toEqual([
    { id: one.id, pooled: 1_003_00n, unredeemed: 0n, carry: 5n },
    { id: other.id, pooled: 247_00n, unredeemed: 750_00n, carry: -5n },
  ]);
});

const FRIDAY = new Date("2026-11-27T21:59:00Z");

test("money that joins while the last price is Friday's gets its units after Monday's first price, and no part of the gap", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { deps, platform } = world;
  const a = await subscribed(world, masterLogin, 100_000_00n);
  const b = await subscribed(world, masterLogin, 0n);
  const master = trader(world, masterLogin);
  const position = master.open({ volume: 1_000_000_000n });
  await settle(world);
  const reads = vi.spyOn(platform.client, "readAccount");
  platform.state.oldPrices = [{ symbol: SYMBOL, tickAt: FRIDAY }];

  await deposit(world, b.investorLogin, 100_000_00n);
  enter(platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 50_000_00n });
  await takeFee(world, a.investorLogin, { key: "fee:1", amount: 1_000_00n });
  await settle(world);
  expect(await inBucket(world, masterLogin, "waiting")).toEqual([0n, 100_000_00n]);
  // The fee has left at once; its units follow.
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([99_000_00n, 0n]);
  const proof = await proofOf(world, masterLogin);
  expect(proof).toMatchObject({
    converged: false,
    unredeemed: { minorUnits: 1_000_00n },
    waits: [{ reason: MarketWaitReason.OLD_PRICE, amount: { minorUnits: 251_000_00n - 100_000_00n } }],
  });
  expect(proof.waits[0]!.message).toMatch(/^151,000\.00 USD gets or returns units/);
  expect(proof.waits[0]!.message).toContain(`The last price of ${SYMBOL} is of ${FRIDAY.toISOString()}.`);
  expect(await countMarketWaits(deps.pool)).toEqual({ free_margin: 0, old_price: 1, pool_deficit: 0 });
  const before = reads.mock.calls.length;
  for (let seconds = 0; seconds < 60; seconds += 5) {
    await passTime(world, 5_000);
    await settle(world);
  }
  expect(reads.mock.calls.length - before).toBeLessThanOrEqual(4);

  master.float(position, 10_000_00n);
  platform.state.oldPrices = [];
  await passTime(world, 15_000);
  await settle(world);
  expect(await inBucket(world, masterLogin, "waiting")).toEqual([0n, 0n]);
  expect((await proofOf(world, masterLogin)).waits).toEqual([]);
  master.close(position, { profit: 10_000_00n });
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([109_000_00n, 100_000_00n]);
  const own = sql`select own_pooled_minor as own, price_since as since, price_reason as reason from master_pool`;
  expect(await many(deps.pool, own)).toEqual([{ own: 50_000_00n, since: null, reason: null }]);
  await expectBooksToReconcile(world);
});

test("without a time of its prices a Master is not valued until it is flat, and each of its deals is a reason to look", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const { platform } = world;
  await subscribed(world, masterLogin, 1_000_00n);
  const { investorLogin } = await subscribed(world, masterLogin, 0n);
  const master = trader(world, masterLogin);
  const position = master.open();
  await settle(world);
  platform.state.oldPrices = [{ symbol: SYMBOL, tickAt: undefined }];
  await deposit(world, investorLogin, 1_000_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "waiting")).toEqual([0n, 1_000_00n]);
  const { waits } = await proofOf(world, masterLogin);
  expect(waits[0]!.message).toContain(`shows no time of the price of ${SYMBOL}`);
  master.close(position, { profit: 100_00n });
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_100_00n, 1_000_00n]);
  expect(await many(world.deps.pool, sql`select price_since as since from master_pool`)).toEqual([{ since: null }]);
});
