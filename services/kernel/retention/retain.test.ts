import { register } from "prom-client";
import { beforeEach, expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { DAY_MS } from "../values/duration.ts";
import type { Pool } from "../postgres/pool.ts";
import { column, execute, fragment, one, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { kernelDatabase } from "../testing/database.ts";
import { silent } from "../testing/feed.ts";
import { applyRule, findRemovedBefore, insertRules, retain, type RetentionLimits } from "./retain.ts";
import { type RetentionRule, BY_ID, tableRule } from "./table-rule.ts";

const NAME = "items";
const RULE = tableRule({
  name: NAME,
  table: "item",
  alsoRemoved: ["part"],
  rows: fragment`item`,
  keptMs: 30 * DAY_MS,
  key: BY_ID,
  begunAt: fragment`item.begun_at`,
  endedAt: fragment`item.ended_at`,
  isFinished: fragment`not item.is_open`,
});
const SMALL: RetentionLimits = { maxRows: 10, maxStatements: 1_000 };

const ITEMS = `
  create table item (
    id bigint generated always as identity primary key, begun_at timestamptz not null, ended_at timestamptz,
    is_open boolean not null default false
  );
  create table part (item_id bigint primary key references item on delete cascade)`;

let pool: Pool;

beforeEach(async () => {
  ({ pool } = await kernelDatabase("kernel", ["retention/retention.sql"], ITEMS));
  await insertRules(pool, [NAME]);
});

/** Rows that began and ended so many days ago; `isEnded` false: not ended. */
async function insertItems(count: number, daysAgo: number, { isOpen = false, isEnded = true } = {}): Promise<void> {
  await execute(
    pool,
    sql`with inserted as (
          insert into item (begun_at, ended_at, is_open)
          select clock_timestamp() - ${daysAgo} * interval '1 day',
                 case when ${isEnded} then clock_timestamp() - ${daysAgo} * interval '1 day' end, ${isOpen}
          from generate_series(1, ${count})
          returning id
        )
        insert into part select id from inserted`,
  );
}

const ids = () => column<bigint>(pool, sql`select id from item order by id`);
const idsOfParts = () => column<bigint>(pool, sql`select item_id from part order by item_id`);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => BigInt(from + index));

async function removeAll(rule: RetentionRule = RULE, limits = SMALL): Promise<void> {
  while (!(await applyRule(pool, rule, { limits })));
}

test("rows that ended before the age are removed in small statements, with the rows that depend on them; open and young ones stay", async () => {
  await insertItems(25, 31);
  await insertItems(3, 31, { isOpen: true });
  await insertItems(3, 31, { isEnded: false });
  await insertItems(25, 32);
  await insertItems(5, 29);

  await removeAll();

  const kept = [...range(26, 31), ...range(57, 61)];
  expect(await ids()).toEqual(kept);
  expect(await idsOfParts()).toEqual(kept);
});

test("a pass that was stopped between two statements is continued where it was, by any process", async () => {
  await insertItems(30, 31, { isOpen: true });
  await insertItems(30, 31);
  const limits = { maxRows: 10, maxStatements: 4 };

  expect(await applyRule(pool, RULE, { limits })).toBe(false);
  expect(await ids()).toEqual([...range(1, 30), ...range(41, 60)]);
  const { cursor } = await one<{ cursor: string[] }>(pool, sql`select cursor from retention_rule`);
  expect(cursor).toEqual(["40"]);

  expect(await applyRule(pool, RULE, { limits })).toBe(true);
  expect(await ids()).toEqual(range(1, 30));
});

test("a row that was kept, or that another transaction has locked, is left to the next pass, and no statement waits for it", async () => {
  await insertItems(3, 31);
  await insertItems(1, 31, { isOpen: true });
  await inTransaction(pool, async (tx) => {
    await execute(tx, sql`select from item where id = 2 for update`);
    await removeAll();
    expect(await ids()).toEqual([2n, 4n]);
  });
  await execute(pool, sql`update item set is_open = false`);
  await removeAll();
  expect(await ids()).toEqual([]);
});

test("a statement reads a page by the index, however many rows are kept", async () => {
  await insertItems(5_000, 31, { isOpen: true });
  await insertItems(5_000, 29);
  await pool.query("analyze item");

  const read = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["item"], async () => {
      const step = { before: new Date(Date.now() - RULE.keptMs), cursor: ["2500"], maxRows: 100 };
      expect(await RULE.removeNext(tx, step)).toEqual({ count: 0, cursor: ["2600"], endsPass: false });
    }),
  );

  expect(read).toBeLessThanOrEqual(200);
});

test("a clock that was set forward by a year removes one more day with each pass", async () => {
  await removeAll();
  const before = await findRemovedBefore(pool, NAME);
  for (const days of [30, 28.5, 20]) await insertItems(1, days - 0.1);
  // As a clock does that is a year ahead.
  const stepped = tableRule({
    name: NAME,
    table: "item",
    rows: fragment`item`,
    keptMs: -335 * DAY_MS,
    key: BY_ID,
    begunAt: fragment`item.begun_at`,
    endedAt: fragment`item.ended_at`,
  });

  await removeAll(stepped);
  expect(await ids()).toEqual([2n, 3n]);
  expect((await findRemovedBefore(pool, NAME))!.getTime() - before!.getTime()).toBe(DAY_MS);
  await removeAll(stepped);
  expect(await ids()).toEqual([3n]);
});

test("when the age is raised, what is younger than the new age stays, and answers still say what was removed", async () => {
  await removeAll();
  const removed = await findRemovedBefore(pool, NAME);
  await insertItems(1, 40);

  await removeAll({ ...RULE, keptMs: 60 * DAY_MS });

  expect(await ids()).toEqual([1n]);
  expect(await findRemovedBefore(pool, NAME)).toEqual(removed);
});

test("of two processes one removes rows, a rule that fails delays no other one, and the metric shows the last complete pass", async () => {
  await insertItems(5, 31);
  const failing: RetentionRule = {
    name: "failing",
    tables: [],
    keptMs: DAY_MS,
    removeNext: () => Promise.reject(new Error("the table is gone")),
  };
  const startedAt = Date.now() / 1_000;
  const options = { pool, rules: [failing, RULE], log: silent };
  await using _first = retain(options);
  await using _second = retain(options);

  await waitFor(async () => expect(await ids()).toEqual([]), { interval: 20 });
  await waitFor(
    async () => {
      const { values } = await register.getSingleMetric("pamm_retention_completed_timestamp_seconds")!.get();
      const shown = values.find(({ labels }) => labels["rule"] === NAME)?.value ?? 0;
      expect(shown).toBeGreaterThan(startedAt);
    },
    { interval: 20 },
  );
});
