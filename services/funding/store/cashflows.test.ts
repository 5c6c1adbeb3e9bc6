import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { aNewWithdrawal } from "../testing/cashflows.ts";
import { claimUnsettled, insertCashflows } from "./cashflows.ts";

test("of more due operations than the limit those that are due longest are claimed first", async () => {
  const { pool } = await testDatabase("funding");
  const now = Date.now();
  // The newest is due longest.
  for (let number = 1; number <= 6; number += 1) {
    const deadline = new Date(now - number * 1_000);
    await inTransaction(pool, (tx) => insertCashflows(tx, [aNewWithdrawal({ operationId: `op-${number}`, deadline })]));
  }
  const claim = { at: new Date(now), until: new Date(now + 60_000), limit: 2 };
  const claimed = async () =>
    (await claimUnsettled(pool, claim)).map(({ cashflow }) => cashflow.operationId).toSorted();

  expect(await claimed()).toEqual(["op-5", "op-6"]);
  expect(await claimed()).toEqual(["op-3", "op-4"]);
  expect(await claimed()).toEqual(["op-1", "op-2"]);
  expect(await claimed()).toEqual([]);
});
