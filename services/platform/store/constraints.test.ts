import { expect, test } from "vitest";
import { usd, zero } from "#kernel/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { appendToLog, openLog } from "../protocol/append-to-log.ts";
import { lockAccount } from "./accounts.ts";
import { insertOperations } from "./operations.ts";
import { insertTransfers } from "./transfers.ts";

const SERVER = "test";

async function aManagedLogin(pool: Pool, login: string): Promise<void> {
  const at = new Date();
  const log = {
    login,
    role: "investor",
    group: "g",
    server: SERVER,
    opening: zero(),
    openedAt: at,
    readsFrom: at,
  } as const;
  await inTransaction(pool, (tx) => openLog(tx, log));
}

async function anOperation(pool: Pool, login: string, key: string, kind: "deposit" | "fee_credit" = "deposit") {
  return inTransaction(pool, async (tx) => {
    const wish = { key, holder: "", legs: 1, floorMinor: undefined, isEnqueued: false, sendBefore: undefined };
    const inserted = await insertTransfers(tx, [{ ...wish, comment: "", requestId: "" }]);
    const amounts = { askedMinor: 5n, amountMinor: 5n };
    const standing = { kind, attempt: 0, absences: 0, state: "INTENT" } as const;
    const transferId = inserted.get(key)!.id;
    const [number] = await insertOperations(tx, [{ transferId, leg: 1, login, ...amounts, isReady: true, standing }]);
    return number!;
  });
}

function log(pool: Pool, login: string, ticket: bigint): Promise<void> {
  const entry = {
    kind: "foreign",
    amount: usd(3n),
    cause: undefined,
    deal: { id: ticket, serverMsc: 1n },
    at: new Date(),
    trade: undefined,
  } as const;
  return inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    await appendToLog(tx, account!, { server: SERVER, entries: [entry] });
  });
}

test("of two operations of one login that are under way the database refuses the second, whoever sends it", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  const first = await anOperation(pool, "1", "a");
  const second = await anOperation(pool, "1", "b");
  await execute(pool, sql`update operation set state = 'UNKNOWN' where number = ${first}`);

  const sending = execute(pool, sql`update operation set state = 'SENDING' where number = ${second}`);
  await expect(sending).rejects.toMatchObject({ constraint: "operation_under_way" });
  await execute(
    pool,
    sql`update operation set state = 'REVIEW', came_from = 'UNKNOWN', review = 'candidate_deal'
                          where number = ${first}`,
  );
  const again = execute(pool, sql`update operation set state = 'SENDING' where number = ${second}`);
  await expect(again).rejects.toMatchObject({ constraint: "operation_under_way" });
});

test("credits of a payment account do not stand in each other's way", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  for (const key of ["a", "b"]) {
    const number = await anOperation(pool, "1", key, "fee_credit");
    expect(await execute(pool, sql`update operation set state = 'SENDING' where number = ${number}`)).toBe(1);
  }
});

test("a deal stands in one log once", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await aManagedLogin(pool, "2");
  await log(pool, "1", 77n);

  await expect(log(pool, "2", 77n)).rejects.toMatchObject({ constraint: "log_entry_deal" });
  await expect(log(pool, "1", 77n)).rejects.toMatchObject({ constraint: "log_entry_deal" });
});

test("entries of many writers at once are numbered without gaps, and the account knows their sum", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");

  await Promise.all(Array.from({ length: 10 }, (_, index) => log(pool, "1", BigInt(index + 1))));

  const { rows } = await pool.query(
    `select array_agg(number order by id) as numbers, sum(amount_minor) as sum, max(log_number) as last, max(log_minor) as minor
     from log_entry join account using (login)`,
  );
  expect(rows).toEqual([
    { numbers: Array.from({ length: 11 }, (_, index) => BigInt(index)), sum: "30", last: 10n, minor: 30n },
  ]);
});

test("what is written in the log is never changed", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");

  await expect(execute(pool, sql`update log_entry set amount_minor = 1`)).rejects.toThrow("written once");
  await expect(execute(pool, sql`delete from log_entry`)).rejects.toThrow("written once");
});

test("an operation cannot be applied without a deal, nor refused without a reason", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await anOperation(pool, "1", "a");

  await expect(execute(pool, sql`update operation set state = 'APPLIED'`)).rejects.toThrow("check");
  await expect(execute(pool, sql`update operation set state = 'REFUSED'`)).rejects.toThrow("check");
  await expect(execute(pool, sql`update operation set state = 'REVIEW'`)).rejects.toThrow("check");
});
