import { emptyDatabase } from "#test/support/database.ts";
import { expect, test } from "vitest";
import { isTransient } from "./failure.ts";
import { allOf, execute, fragment, many, plannedAnew, maybeOne, one, type Queryable, sql, unnest } from "./query.ts";
import { autocommit, inTransaction } from "./transaction.ts";

const { pool } = await emptyDatabase("coins");
await execute(pool, sql`create table coin (id bigint primary key, name text not null unique)`);

const HUGE = 9_223_372_036_854_775_807n;

test("fragments become part of the text, with their values bound in order", () => {
  const isNamed = (name: string) => fragment`name = ${name}`;
  const both = fragment`(${isNamed("a")} or ${isNamed("b'")})`;

  const statement = sql`select ${fragment`name`} from coin where id > ${1n} and ${both} and id < ${9n}`;

  expect(statement.text).toBe("select name from coin where id > $1 and (name = $2 or name = $3) and id < $4");
  expect(statement.values).toEqual([1n, "a", "b'", 9n]);
  const other = sql`select ${fragment`id`} from coin where id > ${1n} and ${both} and id < ${9n}`;
  expect(other.name).not.toBe(statement.name);
});

test("conditions that are left out are no part of the statement", () => {
  const where = (name?: string, id?: bigint) =>
    allOf([
      name === undefined ? undefined : fragment`name = ${name}`,
      id === undefined ? undefined : fragment`id = ${id}`,
    ]);

  expect(sql`select where ${where("a", 2n)}`.text).toBe("select where name = $1 and id = $2");
  expect(sql`select where ${where("a", 2n)}`.values).toEqual(["a", 2n]);
  expect(sql`select where ${where(undefined, 2n)}`.text).toBe("select where id = $1");
  expect(sql`select where ${where()}`.text).toBe("select where true");
});

test("rows are a table whose columns are their members", async () => {
  const coins = [
    { name: "a", amountMinor: HUGE, at: undefined },
    { name: "b", amountMinor: 2n, at: new Date("2026-11-21T10:00:00.123Z") },
  ];
  const added = fragment`from ${unnest(coins)} with ordinality as coin (name text, amount_minor bigint, at timestamptz, place)`;

  expect(await many(pool, sql`select coin.* ${added} where amount_minor > ${1n} order by place desc`)).toEqual([
    { name: "b", amount_minor: 2n, at: new Date("2026-11-21T10:00:00.123Z"), place: 2n },
    { name: "a", amount_minor: HUGE, at: null, place: 1n },
  ]);
  expect(await many(pool, sql`select * from ${unnest([])} as coin (name text)`)).toEqual([]);
  expect(() => sql`select * from ${unnest(coins)} as coin (nmae text)`).toThrow("rows have a member nmae");
  expect(() => sql`select * from ${unnest(coins)}`).toThrow("rows have a name and columns");
});

test("values are read from the database exactly", async () => {
  const row = await one(
    pool,
    sql`select ${HUGE}::bigint as big, array[${HUGE}::bigint, null] as bigs, '{}'::bigint[] as none, (2 * ${HUGE}::numeric) as large,
               array[2 * ${HUGE}::numeric, null] as larger, date '2026-11-21' as day, 7 as small, null as nothing,
               timestamptz '2026-11-21T10:00:00.123Z' as at, '\\x00ff'::bytea as bytes, count(*) as counted
        from coin`,
  );

  expect(row).toEqual({
    big: HUGE,
    bigs: [HUGE, null],
    none: [],
    large: 2n * HUGE,
    larger: [2n * HUGE, null],
    day: "2026-11-21",
    small: 7,
    nothing: null,
    at: new Date("2026-11-21T10:00:00.123Z"),
    bytes: Buffer.from([0x00, 0xff]),
    counted: 0n,
  });
});

test("bound values are read back unchanged", async () => {
  const at = new Date("1999-12-31T23:59:59.999Z");
  const bytes = new Uint8Array([1, 2, 3]).subarray(1);

  const row = await one(
    pool,
    sql`select ${at}::timestamptz as at, ${bytes}::bytea as bytes, ${undefined}::text as nothing, ${true}::boolean as yes,
               ${[HUGE, -HUGE]}::bigint[] as bigs, ${["a,b", 'q"\\', null, ""]}::text[] as texts, ${[bytes]}::bytea[] as blobs`,
  );

  expect(row).toEqual({
    at,
    bytes: Buffer.from([2, 3]),
    nothing: null,
    yes: true,
    bigs: [HUGE, -HUGE],
    texts: ["a,b", 'q"\\', null, ""],
    blobs: [Buffer.from([2, 3])],
  });
});

test("one requires exactly one row, maybeOne at most one", async () => {
  const none = sql`select 1 where false`;
  const two = sql`select * from generate_series(1, 2)`;

  await expect(one(pool, none)).rejects.toThrow("expected one row, got 0");
  await expect(one(pool, two)).rejects.toThrow("expected one row, got 2");
  expect(await maybeOne(pool, none)).toBeUndefined();
  await expect(maybeOne(pool, two)).rejects.toThrow("expected at most one row, got 2");
  expect(await many(pool, two)).toHaveLength(2);
});

test("a statement is prepared once for each connection", async () => {
  const find = (id: bigint) => many(pool, sql`select name as prepared_once from coin where id = ${id}`);
  for (const id of [1n, 2n, 3n]) await find(id);

  const prepared = await many(
    pool,
    sql`select name from pg_prepared_statements where statement like 'select name as prepared_once%'`,
  );
  expect(prepared).toHaveLength(1);
});

test("a statement that is planned anew leaves no prepared one behind", async () => {
  const find = (id: bigint) => many(pool, plannedAnew(sql`select name as planned_anew from coin where id = ${id}`));
  for (const id of [1n, 2n]) await find(id);

  const prepared = await many(
    pool,
    sql`select name from pg_prepared_statements where statement like 'select name as planned_anew%' and name <> ''`,
  );
  expect(prepared).toEqual([]);
});

test.each<readonly [string, (read: (db: Queryable) => Promise<unknown>) => Promise<unknown>]>([
  ["of the pool", (read) => read(pool)],
  ["in a transaction", (read) => inTransaction(pool, read)],
  ["that commits by itself", (read) => autocommit(pool, read)],
])("a statement %s whose columns a migration changes fails once on its connection", async (_where, run) => {
  const all = () => run((db) => many(db, sql`select * from coin`));
  await execute(pool, sql`alter table coin drop column if exists weight`);
  await all().catch(() => all());
  await execute(pool, sql`alter table coin add column weight bigint`);

  const failed = await all().catch((error: unknown) => error);
  expect(isTransient(failed)).toBe(true);
  await expect(all()).resolves.toEqual([]);
});
