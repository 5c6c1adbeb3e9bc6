import { beforeEach, expect, test } from "vitest";
import { emptyDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { execute, fragment, many, maybeOne, one, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { workQueue } from "./work-queue.ts";

const { pool } = await emptyDatabase("tasks");
await pool.query(`
  create table task (id bigint generated always as identity primary key, name text not null, done_at timestamptz,
                     next_try_at timestamptz not null default clock_timestamp(), tries integer not null default 0, reason text);
  create table blocked (name text)`);

const queue = workQueue<{ readonly id: bigint; readonly tries: number; readonly name: string }>({
  table: fragment`task`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.done_at is null`,
  mayStart: fragment`not exists (select from blocked where blocked.name = work.name)`,
  columns: fragment`id, name`,
  claimMs: 15_000,
});

beforeEach(async () => {
  await pool.query("truncate task, blocked restart identity");
});

const add = (name: string, dueInMs = 0) =>
  execute(
    pool,
    sql`insert into task (name, next_try_at) values (${name}, clock_timestamp() + ${dueInMs} * interval '1 millisecond')`,
  );
const claim = async (limit = 10) => (await queue.claim(pool, limit)).map(({ name }) => name);
const nextDue = () =>
  one<{ ms: number | null }>(
    pool,
    sql`select extract(epoch from ${queue.nextDue} - clock_timestamp())::float8 * 1000 as ms`,
  );
const pauseOf = (id: bigint) =>
  one<{ ms: number; reason: string | null }>(
    pool,
    sql`select extract(epoch from next_try_at - clock_timestamp())::float8 * 1000 as ms, reason from task where id = ${id}`,
  );

test("due rows are claimed in the order in which they became due, and no other claim returns them", async () => {
  await add("second", -1_000);
  await add("first", -2_000);
  await add("later", 60_000);

  expect(await queue.claim(pool, 1)).toEqual([{ id: 2n, name: "first", tries: 1 }]);
  expect(await claim(10)).toEqual(["second"]);
  expect(await claim()).toEqual([]);
  expect((await pauseOf(1n)).ms).toBeGreaterThan(5_000);
});

test("a row that a crashed replica has claimed is claimed again when the claim is over", async () => {
  await add("task");
  await claim();
  await execute(pool, sql`update task set next_try_at = next_try_at - interval '15 seconds'`);

  expect(await queue.claim(pool, 10)).toEqual([{ id: 1n, name: "task", tries: 2 }]);
});

test("a row that is finished, or must not start now, is not claimed", async () => {
  await add("done");
  await execute(pool, sql`update task set done_at = clock_timestamp()`);
  await add("blocked");
  await execute(pool, sql`insert into blocked values ('blocked')`);
  expect(await claim()).toEqual([]);
  expect(await nextDue()).toEqual({ ms: null });

  await execute(pool, sql`delete from blocked`);
  expect(await claim()).toEqual(["blocked"]);
});

test("concurrent claims share the rows: each is claimed once", async () => {
  for (let count = 0; count < 40; count += 1) await add(`task ${count}`);

  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(7)));

  const names = claims.flat();
  expect(new Set(names).size).toBe(names.length);
  expect([...names, ...(await claim(40))]).toHaveLength(40);
});

test("the pause doubles with each try up to the maximum, and the reason is stored", async () => {
  await add("task");
  const now = async () => (await one<{ at: Date }>(pool, sql`select clock_timestamp() as at`)).at.getTime();
  for (const [index, pauseMs] of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
    await execute(pool, sql`update task set next_try_at = clock_timestamp()`);
    const [row] = await queue.claim(pool, 1);
    const before = await now();
    await queue.retryLater(pool, [{ ...row!, reason: `failure ${index}` }]);
    const after = await now();
    const { at, reason } = await one<{ at: Date; reason: string }>(
      pool,
      sql`select next_try_at as at, reason from task`,
    );

    expect(reason).toBe(`failure ${index}`);
    expect(at.getTime()).toBeGreaterThanOrEqual(before + pauseMs);
    expect(at.getTime()).toBeLessThanOrEqual(after + pauseMs + 1);
  }
});

test("rows that wait together have their own reasons and longest pauses", async () => {
  await add("busy");
  await add("refused");
  await execute(pool, sql`update task set tries = 9`);
  const rows = await queue.claim(pool, 10);
  await queue.retryLater(
    pool,
    rows.map((row) => ({ ...row, reason: row.name, ...(row.name === "busy" ? { maxMs: 1_000 } : {}) })),
  );

  expect((await pauseOf(1n)).ms).toBeLessThanOrEqual(1_000);
  expect((await pauseOf(2n)).ms).toBeGreaterThan(10_000);
  expect(await many(pool, sql`select reason from task order by id`)).toEqual([
    { reason: "busy" },
    { reason: "refused" },
  ]);
});

test("a late replica does not delay a row that ended or that another replica has claimed since", async () => {
  await add("claimed");
  await add("done");
  const rows = await queue.claim(pool, 10);
  await execute(pool, sql`update task set next_try_at = clock_timestamp() where name = 'claimed'`);
  await claim();
  await execute(pool, sql`update task set done_at = clock_timestamp() where name = 'done'`);
  await queue.retryLater(
    pool,
    rows.map((row) => ({ ...row, reason: "late" })),
  );

  expect(await maybeOne(pool, sql`select from task where reason = 'late'`)).toBeUndefined();
});

test("the next due instant is that of the first open row", async () => {
  expect(await nextDue()).toEqual({ ms: null });
  await add("later", 60_000);
  await add("soon", 30_000);

  const { ms } = await nextDue();
  expect(ms).toBeGreaterThan(15_000);
  expect(ms).toBeLessThanOrEqual(30_000);
});

test("a claim reads no row that is not due", async () => {
  await pool.query("create index if not exists task_open on task (next_try_at) where done_at is null");
  await execute(
    pool,
    sql`insert into task (name, next_try_at)
        select 'later', clock_timestamp() + interval '1 hour' from generate_series(1, 5000)`,
  );
  await add("due", -1_000);
  await pool.query("analyze task");

  const rows = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["task"], async () => {
      expect(await queue.claim(tx, 10)).toHaveLength(1);
    }),
  );

  expect(rows).toBeLessThan(10);
});
