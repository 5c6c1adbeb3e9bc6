import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, one, sql, type Statement } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { emptyDatabase } from "#test/support/database.ts";
import { schemaOf } from "./database.ts";
import { simulatedPool, tried } from "./testing/simulated-pool.ts";

const TABLES = `
  create table owner (id bigint primary key, name text not null, limit_minor bigint not null);
  create table item (id bigint primary key, state text not null, minor bigint not null, owner_id bigint not null);
  create index item_owner on item (owner_id);`;
const ROWS: readonly Statement[] = [
  sql`delete from item`,
  sql`delete from owner`,
  sql`insert into owner (id, name, limit_minor) values (1, 'ann', 10), (2, 'bob', 20)`,
  sql`insert into item (id, state, minor, owner_id) values (1, 'open', 100, 1), (2, 'open', 200, 2), (3, 'done', 300, 1)`,
];

/** What the first transaction does before the second statement begins; it commits when that statement waits or has ended. */
const FIRST: Readonly<Record<string, readonly Statement[]>> = {
  "ends an item": [sql`update item set state = 'done' where id = 1`],
  "opens an item": [sql`update item set state = 'open' where id = 3`],
  "adds to an item": [sql`update item set minor = minor + 5 where id = 1`],
  "deletes an item": [sql`delete from item where id = 1`],
  "inserts an item": [sql`insert into item (id, state, minor, owner_id) values (4, 'open', 400, 1)`],
  "gives an item to another owner": [sql`update item set owner_id = 2 where id = 1`],
  "changes the limit of an owner": [sql`update owner set limit_minor = 0 where id = 1`],
  "changes an item and its owner": [
    sql`update owner set limit_minor = 0 where id = 1`,
    sql`update item set minor = 7 where id = 1`,
  ],
  "only locks an item": [sql`select id from item where id = 1 for update`],
  "ends an item and inserts another one": [
    sql`update item set state = 'done' where id = 1`,
    sql`insert into item (id, state, minor, owner_id) values (5, 'open', 500, 2)`,
  ],
};

/** The second transaction: one statement, in the shapes that the services use. */
const SECOND: Readonly<Record<string, Statement>> = {
  "update of some rows": sql`update item set minor = minor + 1 where state = 'open' returning id, minor`,
  "update from another table": sql`
    update item set minor = item.minor + owner.limit_minor from owner
    where owner.id = item.owner_id and item.state = 'open' returning item.id, item.minor, owner.limit_minor`,
  "update that looks at another table": sql`
    update item set minor = minor + 1 where id = 1 and (select limit_minor from owner where id = 1) > 0 returning minor`,
  "update with a sum of its own table": sql`
    update item set minor = (select sum(minor) from item)::bigint where id = 1 returning minor`,
  "update with a count that depends on its row": sql`
    update owner set limit_minor = limit_minor - (select count(*) from item where owner_id = owner.id) where id = 1
    returning limit_minor`,
  "update of rows that a subquery has locked": sql`
    update item set state = 'taken' where id in (select id from item where state = 'open' order by id limit 1 for update)
    returning id, minor`,
  "update from a list": sql`
    update item set minor = given.minor from unnest(${[1n, 2n]}::bigint[], ${[104n, 1n]}::bigint[]) as given (id, minor)
    where given.id = item.id and given.minor > item.minor returning item.id, item.minor`,
  "delete ... returning": sql`delete from item where state = 'open' returning id, minor`,
  "delete using another table": sql`
    delete from item using owner where owner.id = item.owner_id and owner.limit_minor > 0 and item.state = 'open'
    returning item.id, owner.limit_minor`,
  "for update of a join": sql`
    select item.id, item.minor, owner.limit_minor from item join owner on owner.id = item.owner_id
    where item.state = 'open' order by item.id for update of item`,
  "for update of both tables of a join": sql`
    select item.id, item.minor, owner.limit_minor from item join owner on owner.id = item.owner_id
    where owner.limit_minor > 0 order by item.id for update`,
  "for update with a left join": sql`
    select item.id, item.minor, owner.name from item left join owner on owner.id = item.owner_id and item.minor > 50
    where item.state = 'open' order by item.id for no key update of item`,
  "for update in the order of what changed": sql`select id, minor from item order by minor desc limit 2 for update`,
  "for share": sql`select id, state from item where state = 'open' order by id for share`,
  "skip locked with a limit": sql`select id, minor from item where state = 'open' order by id limit 1 for update skip locked`,
  "skip locked in a clause of an update": sql`
    with due as (select id from item where state = 'open' order by id limit 2 for no key update skip locked)
    update item set state = 'taken' from due where due.id = item.id returning item.id, item.minor`,
  "lock in a clause of an update of another table": sql`
    with locked as (select id, minor, owner_id from item where id = 1 and state = 'open' for update)
    update owner set limit_minor = limit_minor + locked.minor from locked where owner.id = locked.owner_id
    returning owner.id, limit_minor`,
  "with an update, read by the same statement": sql`
    with changed as (update item set minor = minor + 1 where state = 'open' returning id, minor)
    select changed.id, changed.minor, item.minor as before from changed join item on item.id = changed.id order by id`,
  "with a delete, inserted by the same statement": sql`
    with gone as (delete from item where state = 'open' returning id, minor, owner_id)
    insert into item (id, state, minor, owner_id) select id + 10, 'moved', minor, owner_id from gone returning id, minor`,
  "insert of what it reads": sql`
    insert into item (id, state, minor, owner_id) select id + 20, 'copy', minor, owner_id from item where state = 'open'
    returning id, minor`,
  "insert of a taken key": sql`insert into item (id, state, minor, owner_id) values (4, 'open', 1, 1) returning id`,
  "on conflict do nothing": sql`
    insert into item (id, state, minor, owner_id) values (1, 'new', 1, 1), (4, 'new', 1, 1) on conflict (id) do nothing
    returning id`,
  "on conflict do update": sql`
    insert into item (id, state, minor, owner_id) values (1, 'new', 1, 1), (4, 'new', 1, 1)
    on conflict (id) do update set minor = item.minor + excluded.minor where item.state = 'open' returning id, minor`,
  "on conflict do update of the same row twice": sql`
    insert into item (id, state, minor, owner_id) values (1, 'new', 1, 1), (1, 'new', 2, 1)
    on conflict (id) do update set minor = excluded.minor returning id, minor`,
  "on conflict do update with an old sum": sql`
    insert into owner (id, name, limit_minor) values (1, 'sum', 0)
    on conflict (id) do update set limit_minor = (select sum(minor) from item)::bigint returning limit_minor`,
};

/** Resolves when the statement waits for a lock. */
type UntilWaiting = (pool: Pool) => Promise<unknown>;

async function play(pool: Pool, first: readonly Statement[], second: Statement, untilWaiting: UntilWaiting) {
  for (const statement of ROWS) await execute(pool, statement);
  let answer: Promise<unknown> | undefined;
  await inTransaction(pool, async (tx) => {
    for (const statement of first) await many(tx, statement);
    answer = tried(many(pool, second));
    await Promise.race([answer, untilWaiting(pool)]);
  });
  const rows = ((await answer) as readonly object[]) ?? [];
  const items = await many(pool, sql`select id, state, minor, owner_id from item order by id`);
  const owners = await many(pool, sql`select id, limit_minor from owner order by id`);
  return { rows: Array.isArray(rows) ? rows.map(textOf).toSorted() : rows, items, owners };
}

function textOf(row: object): string {
  return JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

async function untilLockWait(pool: Pool): Promise<void> {
  for (let isWaiting = false; !isWaiting; await pause(1)) {
    const waiting = sql`select exists (select from pg_stat_activity where datname = current_database()
                                         and wait_event_type = 'Lock') as is_waiting`;
    isWaiting = (await one<{ is_waiting: boolean }>(pool, waiting)).is_waiting;
  }
}

test.each(Object.keys(FIRST))("a statement ends as on Postgres while another transaction %s", async (name) => {
  const first = FIRST[name]!;
  const real = await emptyDatabase("locks");
  await real.pool.query(TABLES);
  const script = async (pool: Pool, untilWaiting: UntilWaiting) => {
    const seen: Record<string, unknown> = {};
    for (const [title, second] of Object.entries(SECOND)) seen[title] = await play(pool, first, second, untilWaiting);
    return seen;
  };
  const onPostgres = await script(real.pool, untilLockWait);
  // A virtual pause, shorter than the lock time-out.
  const simulated = await simulatedPool(schemaOf([TABLES]), (pool) => script(pool, () => pause(200)));
  expect(simulated).toEqual(onPostgres);
});

test("a history fails when a changed row cannot be checked again as Postgres would do it", async () => {
  const second = sql`update item set minor = 0 where state = 'open'
                       and exists (select from owner where owner.id = item.owner_id) returning id`;
  const given = FIRST["gives an item to another owner"]!;
  const played = simulatedPool(schemaOf([TABLES]), (pool) => play(pool, given, second, () => pause(200)));
  await expect(played).rejects.toThrow("a subquery of the statement reads its column owner_id");
});

test.each([
  [sql`select id from (select id from item) as listed for update`, "subquery"],
  [sql`select item.id from item left join owner on owner.id = item.owner_id for update`, "left join"],
  [sql`select distinct owner_id from item for update`, "DISTINCT"],
])("a locking query that the simulation cannot play is refused when it is compiled: %#", ({ text }, reason) => {
  expect(() => schemaOf([TABLES]).compiled(text)).toThrow(reason);
});
