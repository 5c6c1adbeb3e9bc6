import { expect, test } from "vitest";
import { one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { numberFloor } from "../domain/leg-number.ts";
import { raiseLegNumbers } from "./senders.ts";

test("the numbers of legs begin above those that a lost time may have used, and are never set back", async () => {
  const { pool } = await testDatabase("platform");
  const earlierMs = Date.parse("2026-11-22T10:00:00Z");
  const laterMs = Date.parse("2026-11-22T10:00:05Z");
  const nextAfter = async (raisedAtMs: number): Promise<bigint> => {
    await inTransaction(pool, (tx) => raiseLegNumbers(tx, raisedAtMs));
    return (await one<{ number: bigint }>(pool, sql`select next_leg_number(database_identity()) as number`)).number;
  };

  expect(await nextAfter(earlierMs)).toBeGreaterThan(numberFloor(earlierMs));
  const first = await nextAfter(laterMs);
  expect(first).toBeGreaterThan(numberFloor(laterMs));
  expect(await nextAfter(earlierMs)).toBe(first + 1n);
});
