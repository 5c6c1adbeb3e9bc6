import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { aNewWithdrawal } from "../testing/cashflows.ts";
import { listCashflowsById } from "./cashflows.ts";
import { cashflowQueue } from "./cashflow-transitions.ts";
import { insertCashflows } from "./new-cashflows.ts";

test("of more due operations than the limit those that are due longest are claimed first", async () => {
  const { pool } = await testDatabase("funding");
  const now = Date.now();
  // The newest is due longest.
  for (let number = 1; number <= 6; number += 1) {
    const deadline = new Date(now - number * 1_000);
    await insertCashflows(pool, [aNewWithdrawal({ operationId: `op-${number}`, deadline })]);
  }
  const claimed = async () => {
    const ids = (await cashflowQueue.claim(pool, 2)).map(({ id }) => id);
    return (await listCashflowsById(pool, ids)).map(({ operationId }) => operationId).toSorted();
  };

  expect(await claimed()).toEqual(["op-5", "op-6"]);
  expect(await claimed()).toEqual(["op-3", "op-4"]);
  expect(await claimed()).toEqual(["op-1", "op-2"]);
  expect(await claimed()).toEqual([]);
});
