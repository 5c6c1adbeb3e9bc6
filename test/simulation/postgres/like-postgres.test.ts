import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { insertEntries } from "#kernel/feed/outbox.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, sql, type Statement } from "#kernel/postgres/query.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { readSchema } from "./database.ts";
import { simulatedPool, tried } from "./testing/simulated-pool.ts";

/** A script for a database; it returns what it read. */
type Script = (pool: Pool) => Promise<unknown>;

/** Runs the same script on a real Postgres and on the simulated one; both results have to be equal. */
async function expectAlike(script: Script): Promise<void> {
  const real = await testDatabase("platform");
  const seen = await script(real.pool);
  const simulated = await simulatedPool(readSchema("platform"), script);
  expect(simulated).toEqual(seen);
}

async function inTurn(pool: Pool, statements: readonly Statement[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const statement of statements) seen.push(await tried(many(pool, statement)));
  return seen;
}

/** It lacks columns that are not null, so its transaction is rolled back. */
const failing = sql`insert into account (login, role) values ('9', 'investor')`;
const sender = sql`insert into sender (started_at) values (${new Date(0)}) returning epoch`;
const anAccount = (login: string) => sql`
  insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor)
  values (${login}, 'investor', 'g', ${new Date(1_000)}, 0, 1, 5) returning login, log_minor, undecided_from, reads_from`;
const aTransfer = (key: string) => sql`
  insert into transfer (key, lock_owner, leg_count, is_enqueued, comment, request_id)
  values (${key}, '', 1, false, '', '') returning id`;
const aLeg = (number: bigint, state: string) => sql`
  insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state, attempt)
  values (${number}, 1, ${Number(number)}, '7', 'deposit', 5, 5, true, true, ${state}, 1) returning number, state, came_from`;

test("both databases return values unchanged and in the types of the driver", () =>
  expectAlike((pool) =>
    inTurn(pool, [
      sql`select ${7n}::bigint as big, ${7}::integer as small, ${"x"}::text as word, ${true}::boolean as yes,
                 ${new Date(1_234)}::timestamptz as at, ${[1n, 2n]}::bigint[] as bigs, ${null}::text as none`,
      sql`select count(*) as rows, sum(n) as total, max(n) as most, sum(n)::bigint as big
          from unnest(${[1n, 2n, 3n]}::bigint[]) as listed (n)`,
      sql`select line, rank from unnest(string_to_array(${"a b\n\nc"}, ${"\n"})) with ordinality as text (line, rank) order by rank`,
      sql`select 7 as four_bytes, 7000000000 as eight_bytes, 'a' || 1 as joined, 2 + 3::bigint as sum`,
      sql`select ${'{"b": [1, {"c": null}]}'}::jsonb as document, '-infinity'::timestamptz as ever`,
      sql`select asked -> 'deals' as deals, asked -> 'deals' ?| ${["7", "9"]}::text[] as has_any, asked -> 'no' as nothing
          from (values (${'{"deals": ["5", "7"]}'}::jsonb)) as row (asked)`,
      sql`select ${["a", "b"]}::text[] @> ${["b"]}::text[] as has_all, ${["a"]}::text[] @> ${["a", "b"]}::text[] as has_some`,
      sql`select jsonb_typeof(${'{"a": 1}'}::jsonb) as object, jsonb_typeof(${"[1]"}::jsonb) as list`,
      sql`select extract(epoch from timestamptz '2025-01-02Z' - timestamptz '2025-01-01Z')::bigint as seconds,
                 least(2, null, 1) as least, greatest(${3n}::bigint, 4) as greatest, power(2, 5)::integer as power`,
    ]),
  ));

test("a comparison with null gives null on both databases", () =>
  expectAlike((pool) =>
    inTurn(pool, [
      sql`select a, b, a and b as both, a or b as either, not a as no, a = b as same, a is distinct from b as apart
          from unnest(${[true, true, true, false, false, null]}::boolean[],
                      ${[true, false, null, false, null, null]}::boolean[]) as pair (a, b)`,
      sql`select n, n in (1, null) as among, n not in (1, null) as not_among, n = any(${[1n, null]}::bigint[]) as one_of,
                 n <> all(${[1n, 2n]}::bigint[]) as none_of, coalesce(n > 1, false) as more, nullif(n, 2) as not_two
          from unnest(${[1n, 2n, null]}::bigint[]) as listed (n)`,
      sql`select case when n = 1 then 'one' when n > 1 then 'more' end as said, num_nulls(n, n, 1) as nulls
          from unnest(${[1, 2, null]}::integer[]) as listed (n) where n is distinct from 2`,
    ]),
  ));

test("both databases return the same rows for joins, groups, orders and limits", () =>
  expectAlike((pool) =>
    inTurn(pool, [
      sql`select l.n, r.word from unnest(${[1, 2, 3]}::integer[]) as l (n)
          left join unnest(${[2, 2]}::integer[], ${["a", "b"]}::text[]) as r (n, word) on r.n = l.n order by l.n, r.word`,
      sql`select distinct on (word) word, n from unnest(${["b", "a", "b"]}::text[], ${[1, 2, 3]}::integer[]) as l (word, n)
          order by word, n desc`,
      sql`select n, ordinal from unnest(${[9, 8, 7]}::integer[]) with ordinality as l (n, ordinal) order by ordinal desc limit 2`,
      sql`select word, count(*) as times, array_agg(n order by n desc) as all_of_it
          from unnest(${["b", "a", "b"]}::text[], ${[1, 2, 3]}::integer[]) as l (word, n) group by word having count(*) > 0
          order by word`,
      sql`select n, row_number() over (partition by n % 2 order by n desc) as ordinal, sum(n) over (order by n) as so_far
          from unnest(${[1, 2, 3, 3]}::integer[]) as l (n) order by n, ordinal`,
      sql`select n from unnest(${[3, 1]}::integer[]) as l (n) union select 1 union all select 1 order by n`,
      sql`select n, m from unnest(${[9, 10, 10, 11]}::integer[], ${[5, 3, 20, 1]}::integer[]) as l (n, m)
          where (n, m) > (10, 3) order by n, m`,
      sql`select l.n, next.m from unnest(${[1, 2]}::integer[]) as l (n)
          cross join lateral (select l.n * 10 as m union all select l.n order by m limit 1) as next order by l.n`,
      sql`select here.at, listed.n, listed.kind from (select 1 as at, (select max(id) from log_entry) as newest) as here
          left join (
            select n, 'first' as kind from (select n from unnest(${[3, 1, 2]}::integer[]) as l (n) order by n limit 2) as low
            union all
            select n, 'last' from (select n from unnest(${[3, 1, 2]}::integer[]) as l (n) order by n desc limit 1) as high
          ) as listed on true order by listed.n`,
      sql`select (select read_to from reader_cursor) as read_to`,
      sql`select recorded.login, recorded.deal_id from recorded_deal as recorded
          join account on account.login = recorded.login
          where account.platform_group = 'g' and not recorded.login = any (${["8"]}::text[])`,
      sql`select n from unnest(${[1, 2, 3]}::integer[]) as l (n)
          where exists (select from unnest(${[2, 3]}::integer[]) as r (m) where m = n) and n < (select max(x)
            from unnest(${[3]}::integer[]) as t (x))`,
    ]),
  ));

test("inserts and updates have the same effect on both databases, and violated constraints the same names", () =>
  expectAlike((pool) =>
    inTurn(pool, [
      sender,
      anAccount("7"),
      anAccount("7"),
      anAccount("0"),
      failing,
      aTransfer("k"),
      aTransfer("k"),
      aLeg(1n, "SENDING"),
      aLeg(2n, "UNKNOWN"),
      aLeg(2n, "INTENT"),
      sql`insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state)
          values (3, 99, 3, '7', 'deposit', 5, 5, true, true, 'INTENT')`,
      sql`insert into finding (login, reason, evidence) values ('7', 'r', '{}'), ('7', 'r', '{}') on conflict do nothing
          returning login`,
      sql`insert into reader_cursor (read_to) values (${new Date(5_000)}) on conflict (is_only) do update
          set read_to = greatest(reader_cursor.read_to, excluded.read_to) returning read_to`,
      sql`insert into reader_cursor (read_to) values (${new Date(4_000)}) on conflict (is_only) do update
          set read_to = greatest(reader_cursor.read_to, excluded.read_to) returning read_to`,
      sql`update leg set state = 'UNKNOWN' where number = 1 and state = 'INTENT' returning number`,
      sql`update leg set state = 'REVIEW', came_from = 'UNKNOWN', review = 'x' where number = 1 returning *`,
      sql`update account set log_minor = log_minor + added.n from unnest(${["7"]}::text[], ${[4n]}::bigint[]) as added (login, n)
          where account.login = added.login returning account.login, log_minor`,
      sql`with deleted as (delete from reader_cursor where is_only returning read_to) select read_to from deleted`,
      sql`insert into released_lock (lock_owner, login) values ('h', '7')`,
      sql`update released_lock set login = '8'`,
      sql`select nextval('leg_number') as first, nextval('leg_number') as second`,
    ]).then((seen) => seen.map(withoutTimes)),
  ));

/** Replaces instants of the database's own clock. */
function withoutTimes(rows: unknown): unknown {
  return JSON.parse(
    JSON.stringify(rows, (name, value: unknown) => {
      if (name.endsWith("_at") || name === "is_late") return "then";
      return typeof value === "bigint" ? `${value}n` : value;
    }),
  );
}

/** `held` resolves after the first part of a transaction, so that the order is the same on both databases. */
type Held = { readonly held: Promise<void>; readonly done: Promise<unknown> };

function hold(
  pool: Pool,
  first: (tx: Transaction) => Promise<unknown>,
  last: (tx: Transaction) => Promise<unknown>,
): Held {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const done = inTransaction(pool, async (tx) => {
    const seen = await first(tx);
    resolve();
    return [seen, await last(tx)];
  });
  return { held, done };
}

test("a statement waits for a locked row, and then sees its new version", () =>
  expectAlike(async (pool) => {
    await inTurn(pool, [anAccount("7"), anAccount("8")]);
    const change = (tx: Transaction | Pool, to: bigint) =>
      many(tx, sql`update account set log_minor = ${to} where login = '7' and log_minor = 5 returning log_minor`);
    const first = hold(
      pool,
      (tx) => change(tx, 6n),
      async () => {
        const before = await many(pool, sql`select log_minor from account where login = '7'`);
        const free = await many(pool, sql`select login from account order by login for update skip locked`);
        await pause(100);
        return [before, free];
      },
    );
    await first.held;
    return [await change(pool, 7n), await first.done];
  }));

test("of two inserts of the same key, the second waits for the end of the first transaction", () =>
  expectAlike(async (pool) => {
    const add = (tx: Transaction | Pool) =>
      many(tx, sql`insert into released_lock (lock_owner, login) values ('h', '7') returning lock_owner`);
    const first = hold(pool, add, async (tx) => {
      await pause(100);
      return many(tx, failing);
    });
    const undone = tried(first.done);
    await first.held;
    return [await tried(add(pool)), await undone, await tried(add(pool))];
  }));

test("events get their numbers in the order of the commits, and a rollback leaves no gap", () =>
  expectAlike(async (pool) => {
    const insert = async (tx: Transaction, feeds: readonly string[]) => {
      const events = feeds.map((feed) => ({
        feed,
        type: "t",
        subject: undefined,
        payload: new Uint8Array(),
        requestId: "",
      }));
      return (await insertEntries(tx, events)).map(({ feed, number }) => [feed, number]);
    };
    const none = async () => undefined;
    const before = hold(pool, (tx) => insert(tx, ["b", "a", "b"]), none);
    const seen = [await before.done];
    const undone = hold(
      pool,
      (tx) => insert(tx, ["a", "b"]),
      async (tx) => {
        await pause(100);
        return many(tx, failing);
      },
    );
    const failed = tried(undone.done);
    await undone.held;
    // They share no feed: which of two that wait goes on first is not determined.
    const waiting = [["b", "c"], ["a"]];
    const after = waiting.map((feeds) => hold(pool, (tx) => insert(tx, feeds), none).done);
    seen.push(await failed, await after[0], await after[1]);
    return [seen.map(String).toSorted(), await many(pool, sql`select feed, number from outbox order by feed, number`)];
  }));

test("a statement whose lock wait times out fails, and aborts its transaction", () =>
  expectAlike(async (pool) => {
    await inTurn(pool, [anAccount("7")]);
    const lock = (tx: Transaction) => many(tx, sql`select login from account where login = '7' for no key update`);
    const holder = hold(pool, lock, () => pause(900));
    await holder.held;
    const late = await inTransaction(pool, async (tx) => {
      const waited = await tried(execute(tx, sql`update account set log_minor = 1 where login = '7'`));
      const after = await tried(many(tx, sql`select 1 as one`));
      await tx.query("rollback");
      await tx.query("begin");
      return [waited, after, await many(tx, sql`select 2 as two`)];
    });
    await holder.done;
    return late;
  }));

test("share locks coexist, and a writer waits for all of them", () =>
  expectAlike(async (pool) => {
    await inTurn(pool, [anAccount("7")]);
    const order: string[] = [];
    const share = (tx: Transaction) => many(tx, sql`select login from account where login = '7' for share`);
    const readers = [100, 300].map((ms) =>
      hold(pool, share, async () => {
        await pause(ms);
        order.push(`reader ${ms}`);
      }),
    );
    await Promise.all(readers.map(({ held }) => held));
    await execute(pool, sql`update account set log_minor = 1 where login = '7'`);
    order.push("writer");
    await Promise.all(readers.map(({ done }) => done));
    return order;
  }));

test("a deferred foreign key fails the commit", () =>
  expectAlike(async (pool) => {
    const entry = sql`insert into log_entry (login, number, kind, amount_minor, deal_at)
                      values ('5', 0, 'opening', 1, ${new Date(0)}) returning id`;
    const broken = await tried(inTransaction(pool, (tx) => many(tx, entry)));
    const whole = await inTransaction(pool, async (tx) => [await many(tx, entry), await many(tx, anAccount("5"))]);
    return [broken, whole, await many(pool, sql`select number, amount_minor from log_entry`)];
  }));
