import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { ResultAllocated } from "#proto/pamm/subscription/v1/events.ts";
import { aWorld } from "../testing/world.ts";
import { receiveAllocations } from "./receive-allocations.ts";

test("received allocations raise the watermark of their Master and never lower it", async () => {
  const { deps, clock } = await aWorld();
  const consumer = receiveAllocations(deps);
  const entry = (masterLogin: string, masterNumber: bigint) => ({
    number: 1n,
    id: 1n,
    publishedAt: clock.now,
    requestId: "",
    type: ResultAllocated.$type,
    message: { masterLogin, masterNumber, dealId: 1n, dealAt: clock.now, result: undefined },
  });
  await inTransaction(deps.pool, (tx) =>
    consumer.receive(tx, [entry("5002", 1n), entry("5001", 7n), entry("5001", 8n)]),
  );
  await inTransaction(deps.pool, (tx) => consumer.receive(tx, [entry("5001", 3n)]));
  const rows = sql`select master_login as login, received_number as number from allocation_watermark order by 1`;
  expect(await many(deps.pool, rows)).toEqual([
    { login: "5001", number: 8n },
    { login: "5002", number: 1n },
  ]);
});
