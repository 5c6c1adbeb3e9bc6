import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Pool } from "../postgres/pool.ts";
import { column, execute, fragment, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { DAY_MS, MINUTE_MS } from "../values/duration.ts";
import { aFinding, reconciliationPool } from "../testing/check.ts";
import { settledCursor } from "../testing/walk.ts";
import type { CheckRun } from "./check.ts";
import { selectIds } from "./table-walk.ts";
import { walkTables } from "./walk.ts";

const ITEMS = `create table item (
  id bigint generated always as identity primary key, is_open boolean not null default false, is_bad boolean not null default false
)`;
const TABLES = { item: { name: "item", rows: fragment`item`, id: fragment`id` } };

let pool: Pool;
let cursor: string;
/** Of the last run, in the order of the pages. */
let examined: bigint[];

const OLD_ROWS = 30_000;
/** The pass through the old rows is far from the new ones, and all of them are settled. */
let afterOldRows = "";

async function anEmptyTable(): Promise<void> {
  pool = await reconciliationPool(ITEMS);
  cursor = "";
}

/** As if the next run came later than the transactions that were in progress at the last one last. */
function later(): void {
  cursor = settledCursor(cursor);
}

async function run(broken: readonly bigint[] = []): Promise<CheckRun> {
  examined = [];
  const check = walkTables(
    {
      pool,
      tables: TABLES,
      everyMs: MINUTE_MS,
      async examine(db, { item }, old) {
        const ids = selectIds(item, [...old.broken("item"), ...old.open("item")]);
        examined.push(...(await column<bigint>(db, sql`select id from item where id in ${ids} order by id`)));
        const bad = await column<bigint>(db, sql`select id from item where is_bad and id in ${ids}`);
        const open = await column<bigint>(
          db,
          sql`select id from item where is_open and id in ${ids} order by id limit 20001`,
        );
        return { findings: bad.map((id) => aFinding(`item:${id}`)), open: { item: open } };
      },
    },
    { cursor, pendingBreaks: broken.map((id) => ({ key: `item:${id}`, login: "" })) },
  );
  const done = await check;
  cursor = done.nextCursor;
  return done;
}

const add = (count: number, is: { isOpen?: boolean; isBad?: boolean } = {}) =>
  execute(
    pool,
    sql`insert into item (is_open, is_bad)
        select ${is.isOpen ?? false}, ${is.isBad ?? false} from generate_series(1, ${count}::integer)`,
  );
const keysOf = ({ findings }: CheckRun) => findings.map(({ key }) => key);

async function runAndSettle(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await run();
    later();
  }
}

describe("beside old rows", () => {
  let old: Pool;

  beforeAll(async () => {
    await anEmptyTable();
    old = pool;
    await add(OLD_ROWS);
    await runAndSettle(3);
    afterOldRows = cursor;
  });

  beforeEach(async () => {
    pool = old;
    cursor = afterOldRows;
    await pool.query(`delete from item where id > ${OLD_ROWS}; alter table item alter id restart with ${OLD_ROWS + 1};
                      update item set is_bad = false where is_bad`);
  });

  test("a new row is examined by the next run, again by the one after it, and by no later one", async () => {
    await add(3);
    for (let count = 0; count < 2; count += 1) {
      await run();
      expect(examined.filter((id) => id > 30_000n)).toEqual([30_001n, 30_002n, 30_003n]);
      later();
    }
    await run();
    expect(examined.filter((id) => id > 30_000n)).toEqual([]);
  });

  test("runs that follow each other within the time of a transaction examine new rows in each of them", async () => {
    await add(1);
    await run();
    later();
    const counts: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      await add(1);
      await run();
      counts.push(examined.filter((id) => id > 30_000n).length);
    }
    expect(counts).toEqual([2, 2, 3, 4]);
  });

  test("a corruption of a new row is found by the next run, of an old row by the pass, and repaired ones are not", async () => {
    await add(1, { isBad: true });
    await execute(pool, sql`update item set is_bad = true where id = 29_000`);
    expect(keysOf(await run())).toEqual(["item:30001"]);
    const found = new Set<string>();
    for (let runs = 0, isOver = false; !isOver; runs += 1) {
      expect(runs).toBeLessThan(70);
      const done = await run([30_001n]);
      for (const key of keysOf(done)) found.add(key);
      isOver = done.endsPass;
    }
    expect([...found].toSorted()).toEqual(["item:29000", "item:30001"]);
    await execute(pool, sql`update item set is_bad = false`);
    expect(keysOf(await run([29_000n, 30_001n]))).toEqual([]);
    expect(examined).toEqual(expect.arrayContaining([29_000n, 30_001n]));
  });

  test("a row that is committed after rows with higher ids is examined as a new one", async () => {
    await inTransaction(pool, async (late) => {
      await execute(late, sql`insert into item default values`);
      await add(2);
      await run();
      expect(examined.filter((id) => id > 30_000n)).toEqual([30_002n, 30_003n]);
    });
    later();
    await run();
    expect(examined.filter((id) => id > 30_000n)).toEqual([30_001n, 30_002n, 30_003n]);
    later();
    await run();
    expect(examined.filter((id) => id > 30_000n)).toEqual([]);
  });

  test("a row that may still change is examined in every run until it does not", async () => {
    await add(1, { isOpen: true });
    for (let count = 0; count < 4; count += 1) {
      await run();
      later();
      expect(examined).toContain(30_001n);
    }
    await execute(pool, sql`update item set is_open = false, is_bad = true where id = 30_001`);
    expect(keysOf(await run())).toEqual(["item:30001"]);
    later();
    await run();
    expect(examined).not.toContain(30_001n);
  });
});

test("one run examines all new rows, however many, and each once", async () => {
  await anEmptyTable();
  await add(1);
  await runAndSettle(3);
  await add(23_000);
  const done = await run();
  expect(done.leavesNewRows).toBe(false);
  // The pass has examined some of them before.
  const fresh = examined.filter((id) => id > 1_001n);
  expect(fresh).toHaveLength(22_000);
  expect(new Set(fresh).size).toBe(22_000);
});

test("while too many rows may still change, new ones wait, and the check is not complete", async () => {
  await anEmptyTable();
  await add(26_000, { isOpen: true });
  expect((await run()).leavesNewRows).toBe(true);
  later();
  expect((await run()).leavesNewRows).toBe(true);
  expect(examined).not.toContain(26_000n);
  await execute(pool, sql`update item set is_open = false, is_bad = id = 26_000`);
  const done = await run();
  expect(done).toMatchObject({ leavesNewRows: false });
  expect(keysOf(done)).toEqual(["item:26000"]);
});

test("a pass through a large table takes about a day", async () => {
  await anEmptyTable();
  await add(3_000);
  await runAndSettle(2);
  await pool.query("update pg_class set reltuples = 2000000 where oid = 'item'::regclass");
  await run();
  expect(examined).toHaveLength(Math.ceil(2_000_000 / (DAY_MS / MINUTE_MS)));
});
