import { expect, test } from "vitest";
import { usd } from "#kernel/values/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { column, execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReadStatementRequest, ReadStatementResponse } from "#proto/pamm/platform/v1/platform.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { testDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { insertEntries } from "../store/log.ts";
import { moneyOf } from "../testing/requests.ts";
import { readStatement } from "./read-statement.ts";
import { findBalanceAt } from "../store/statements.ts";

const LOGIN = "3000003";
const SERVER = "test";
const BEGINNING = new Date("2000-01-01T00:00:00Z");
const END = new Date("2999-01-01T00:00:00Z");

/** An account with 1000.00 before it was managed. */
async function openAccount(pool: Pool): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await execute(
      tx,
      sql`insert into log_entry (login, number, kind, amount_minor, deal_at)
          values (${LOGIN}, 0, 'opening', 100000, clock_timestamp())`,
    );
    await execute(
      tx,
      sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
          select login, 'investor', 'g', deal_at, 0, id, amount_minor, deal_at from log_entry`,
    );
  });
}

/** Appends movements in one statement, as a reading of the history does. */
async function append(pool: Pool, from: number, amounts: readonly bigint[]): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await execute(tx, sql`select from account where login = ${LOGIN} for no key update`);
    const entries = amounts.map((minor, index) => {
      const number = BigInt(from + index);
      const deal = { id: 5_000n + number, serverMsc: 0n };
      const entry = {
        login: LOGIN,
        role: "investor",
        number,
        kind: "external",
        amount: usd(minor),
        at: BEGINNING,
      } as const;
      return { ...entry, deal };
    });
    await insertEntries(tx, SERVER, entries);
  });
}

function statement(pool: Pool, request: Partial<ReadStatementRequest> = {}): Promise<ReadStatementResponse> {
  return readStatement(
    { pool },
    { login: LOGIN, from: BEGINNING, to: END, after: undefined, limit: 1_000, ...request },
  );
}

const shown = ({ opening, lines, closing, hasMore }: ReadStatementResponse) => ({
  opening: opening?.balance?.minorUnits,
  lines: lines.map(({ entry, balance }) => [entry?.amount?.minorUnits, balance?.minorUnits]),
  closing: closing?.balance?.minorUnits,
  hasMore,
});

test("a statement has each movement with the balance after it, and its pages continue one another", async () => {
  const { pool } = await testDatabase("platform");
  await openAccount(pool);
  await append(pool, 1, [250_50n, -1_00n]);

  expect(shown(await statement(pool))).toEqual({
    opening: 0n,
    lines: [
      [1_000_00n, 1_000_00n],
      [250_50n, 1_250_50n],
      [-1_00n, 1_249_50n],
    ],
    closing: 1_249_50n,
    hasMore: false,
  });
  const first = await statement(pool, { limit: 2 });
  expect(shown(first)).toMatchObject({ closing: 1_250_50n, hasMore: true });
  expect(shown(await statement(pool, { after: first.closing, limit: 2 }))).toEqual({
    opening: 1_250_50n,
    lines: [[-1_00n, 1_249_50n]],
    closing: 1_249_50n,
    hasMore: false,
  });
});

test("a period is half-open, and the balances of two that adjoin are the same", async () => {
  const { pool } = await testDatabase("platform");
  await openAccount(pool);
  for (const number of [1, 2, 3]) await append(pool, number, [BigInt(number)]);
  const times = await column<Date>(pool, sql`select logged_at from log_entry order by number`);
  const [second] = times.slice(2);

  const before = shown(await statement(pool, { to: second! }));
  const since = shown(await statement(pool, { from: second! }));

  expect(before.lines.map(([amount]) => amount)).toEqual([1_000_00n, 1n]);
  expect(since).toMatchObject({ opening: before.closing, closing: 1_000_06n });
  expect(since.lines.map(([amount]) => amount)).toEqual([2n, 3n]);
  expect(shown(await statement(pool, { from: END, to: END }))).toEqual({
    opening: 1_000_06n,
    lines: [],
    closing: 1_000_06n,
    hasMore: false,
  });
});

test("a page that continues with another balance than that of the log is no statement", async () => {
  const { pool } = await testDatabase("platform");
  await openAccount(pool);
  await append(pool, 1, [5n]);

  await expect(statement(pool, { after: { number: 0n, balance: moneyOf(7n) } })).rejects.toThrow("ends in its balance");
  await expect(
    readStatement({ pool }, { login: "1", from: BEGINNING, to: END, after: undefined, limit: 1 }),
  ).rejects.toMatchObject({
    code: "login_not_managed",
  });
});

test("balances of a long log are kept at about every 256th entry, so any page of it reads as many rows as any other", async () => {
  const { pool, admin } = await testDatabase("platform");
  await openAccount(pool);
  for (let number = 1; number <= 3_000; number += 100) {
    await append(
      pool,
      number,
      Array.from({ length: 100 }, (_, index) => BigInt(number + index)),
    );
  }
  const checkpoints = await many<{ number: bigint; kept: bigint; sum: bigint }>(
    pool,
    sql`select number, balance_minor as kept,
               (select sum(amount_minor)::bigint from log_entry where log_entry.number <= log_checkpoint.number) as sum
        from log_checkpoint`,
  );
  expect(checkpoints).toHaveLength(11);
  expect(checkpoints.filter(({ kept, sum }) => kept !== sum)).toEqual([]);
  expect(await findBalanceAt(pool, LOGIN, 3_000n)).toBe(1_000_00n + (3_000n * 3_001n) / 2n);
  // Without those of another release, which writes none.
  expect(await findBalanceAt(pool, LOGIN, 200n)).toBe(1_000_00n + (200n * 201n) / 2n);

  await admin.query("analyze log_entry, log_checkpoint");
  const times = await column<Date>(
    pool,
    sql`select logged_at from log_entry where number in (101, 1501, 2901) order by number`,
  );
  const rows: number[] = [];
  for (const from of times) {
    const read = inTransaction(pool, (tx) =>
      rowsRead(tx, ["log_entry", "log_checkpoint"], async () => {
        // A connection of a pool, in place of the pool.
        const page = await statement(tx as never, { from, limit: 50 });
        expect(page.lines).toHaveLength(50);
      }),
    );
    rows.push(await read);
  }
  expect(Math.max(...rows)).toBeLessThan(600);
});

test("a line has the comment of its request, and the operation of a movement that was imported", async () => {
  await using database = await testDatabase("platform");
  const { pool } = database;
  await openAccount(pool);
  await append(pool, 1, [50_00n, 7_00n, 1n]);
  // The entry has a leg, which is no part of a statement.
  await corrupt(pool, "alter table log_entry drop constraint log_entry_leg_number_fkey");
  await execute(
    pool,
    sql`with made as (
          insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
          values ('funding:deposit:1', 'o', 1, false, false, 'CRM-1', 'r') returning id
        )
        insert into log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
        select ${LOGIN}, 4, 'deposit', 900, 1, made.id, 'funding:deposit:1', ${SERVER}, 9000, clock_timestamp() from made`,
  );
  await execute(
    pool,
    sql`insert into lost_movement (server, deal_id, login, amount_minor, comment, operation_id)
        values (${SERVER}, 5002, ${LOGIN}, 700, 'CRM-0', '0198c0de-0000-7000-8000-000000000009')`,
  );
  const { lines } = await statement(pool, { after: { number: 0n, balance: moneyOf(1_000_00n) }, limit: 10 });
  expect(lines.map(({ comment, importedOperationId }) => [comment, importedOperationId])).toEqual([
    ["", ""],
    ["CRM-0", "0198c0de-0000-7000-8000-000000000009"],
    ["", ""],
    ["CRM-1", ""],
  ]);
});
