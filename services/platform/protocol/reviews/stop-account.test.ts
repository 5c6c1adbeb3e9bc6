import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { aBreak } from "#test/support/break.ts";
import { testDatabase } from "#test/support/database.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { silentLog } from "../../testing/world.ts";
import { stopForBreak } from "./stop-account.ts";

test("of two replicas that stop an account at the same time, the second adds its break to the review", async () => {
  const { pool } = await testDatabase("platform");
  const deps = { log: silentLog, settings: { server: "test" } as never };
  const stop = (tx: Transaction, message: string) =>
    stopForBreak(tx, deps, "1001", aBreak(1n, { login: "1001", message, evidence: "{}", operationIds: [] }));

  const { second } = await inTransaction(pool, async (tx) => {
    await stop(tx, "the first");
    const answer = inTransaction(pool, (other) => stop(other, "the second"));
    await expect.poll(() => countLockWaiters(pool), { interval: 5 }).toBe(1);
    return { second: answer };
  });
  await second;

  const cases = await many(pool, sql`select evidence->'breaks' as breaks from review_case`);
  expect(cases).toMatchObject([{ breaks: [{ message: "the first" }, { message: "the second" }] }]);
});
