import { expect, test } from "vitest";
import { usd } from "#kernel/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { aNewWithdrawal } from "../testing/cashflows.ts";
import { insertCashflows } from "./new-cashflows.ts";
import { lockTry, markLeaving, markNextTry } from "./withdrawals.ts";

/** A withdrawal that the pool decides in its first try. */
async function aLeaving(pool: Pool): Promise<bigint> {
  const id = (await insertCashflows(pool, [aNewWithdrawal()])).get("op-1")!.id!;
  await markLeaving(pool, [{ id, try: 1, facts: { balance: usd(100_00n), logNumber: 1n } }]);
  return id;
}

test("a transaction that locks a try waits for the one that ends it, and then finds that it is over", async () => {
  const { pool } = await testDatabase("funding");
  const id = await aLeaving(pool);

  const { second } = await inTransaction(pool, async (tx) => {
    expect(await lockTry(tx, id, 1)).toBe(true);
    const locking = inTransaction(pool, (other) => lockTry(other, id, 1));
    await expect.poll(() => countLockWaiters(pool)).toBeGreaterThan(0);
    await markNextTry(tx, id, 1);
    return { second: locking };
  });

  expect(await second).toBe(false);
});
