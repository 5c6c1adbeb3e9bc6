import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { lockMaster } from "../store/masters.ts";
import { lockHoldings } from "../store/holdings.ts";
import { lockUnitPool, saveUnitPool } from "../store/unit-pools.ts";
import { expectBooksToReconcile } from "./books.ts";
import { deposit } from "./funding.ts";
import { inBucket } from "./ledger.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aMaster, aWorld } from "./world.ts";

test("a strike waits only for locks of the Investors whose units it changes", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const joining = await subscribed(world, masterLogin, 1_000_00n);
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
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const one = await subscribed(world, masterLogin, 1_000_00n);
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
    await saveUnitPool(tx, masterLogin, before, { ...before, holdings });
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
