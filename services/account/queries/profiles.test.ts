import { expect, test } from "vitest";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { AccountFilter } from "#proto/pamm/account/v1/account.ts";
import { createInvestor, createMaster } from "../commands/create.ts";
import { updateInvestor } from "../commands/update.ts";
import { listInvestors as readInvestors } from "../store/investors.ts";
import { listMasters as readMasters } from "../store/masters.ts";
import type { AccountPage } from "../store/profiles.ts";
import { aCall, aMaster, anInvestor, world, type World } from "../testing/account.ts";
import { listInvestors, listMasters } from "./profiles.ts";

const FIRST = { afterId: 0n, limit: 10 };
const AT = new Date("2026-03-01T00:00:00Z");
const afterSeconds = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);

/** Created each second, in another sequence than their ids; the name is `Name <id>`, in upper case for even ids. */
async function withMany(rows: number): Promise<World> {
  const deps = await world();
  await deps.pool.query(`
    insert into account (login, kind) select n::text, 'INVESTOR' from generate_series(1, ${rows}) as n;
    insert into account (login, kind) select (100000 + n)::text, 'MASTER' from generate_series(1, ${rows}) as n;
    insert into account (login, kind) select (200000 + n)::text, 'PAYMENT' from generate_series(1, ${rows}) as n;
    insert into investor (login, name, created_at)
    select n::text, case when n % 2 = 0 then 'NAME ' else 'Name ' end || lpad(n::text, 5, '0'),
           '2026-03-01T00:00:00Z'::timestamptz + (n * 7 % ${rows}) * interval '1 second'
    from generate_series(1, ${rows}) as n;
    insert into master (login, payment_login, name, min_deposit_minor, accepting_since, created_at)
    select (100000 + n)::text, (200000 + n)::text, 'Fund ' || lpad(n::text, 5, '0'), 0, '2026-03-01',
           '2026-03-01T00:00:00Z'::timestamptz + (n * 7 % ${rows}) * interval '1 second'
    from generate_series(1, ${rows}) as n;
    insert into profile (kind, login, labels, email)
    select 'INVESTOR', n::text, jsonb_build_object('externalId', 'CRM-' || n, 'metadata', '{}'::jsonb), 'P' || n || '@Example.com'
    from generate_series(1, ${rows}) as n;
    insert into profile (kind, login, labels)
    select 'MASTER', (100000 + n)::text, jsonb_build_object('externalId', 'CRM-' || n, 'metadata', '{}'::jsonb)
    from generate_series(1, ${rows}) as n`);
  await asOwner(deps.pool, "account", "analyze");
  return deps;
}

async function walk(deps: World, filter: AccountFilter, limit = 10): Promise<string[]> {
  const seen: string[] = [];
  let afterId = 0n;
  for (let hasMore = true; hasMore;) {
    const page = await listInvestors(deps, { filter, afterId, limit });
    seen.push(...page.items.map(({ investor }) => investor?.login ?? ""));
    hasMore = page.hasMore;
    afterId = page.items.at(-1)?.investor?.id ?? 0n;
  }
  return seen;
}

test("Investors are walked by id without gap or repeat; filters are exact, and are combined", async () => {
  const deps = await withMany(60);
  const all = Array.from({ length: 60 }, (_, index) => String(index + 1));

  expect(await walk(deps, {}, 7)).toEqual(all);
  expect(await walk(deps, { name: "nAmE 00010" })).toEqual(["10"]);
  expect(await walk(deps, { name: "Name" })).toEqual([]);
  const period = { createdFrom: afterSeconds(7), createdTo: afterSeconds(14) };
  const inPeriod = all.filter((login) => (Number(login) * 7) % 60 >= 7 && (Number(login) * 7) % 60 < 14);
  expect(await walk(deps, period, 2)).toEqual(inPeriod);
  expect(await walk(deps, { ...period, name: "Name 00001" })).toEqual(["1"]);
  expect(await walk(deps, { ...period, name: "NAME 00002" })).toEqual([]);
  expect(await walk(deps, { email: "p7@eXample.COM" })).toEqual(["7"]);
  expect(await walk(deps, { login: "7" })).toEqual(["7"]);
  expect(await walk(deps, { login: "100007" })).toEqual([]);
  expect(await walk(deps, { externalId: "CRM-8" })).toEqual(["8"]);
  expect(await walk(deps, { externalId: "crm-8" })).toEqual([]);
  expect(await walk(deps, { externalId: "CRM-8", email: "p7@example.com" })).toEqual([]);
});

test("a renamed Investor with another address is found by the new ones only", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor(), aCall("op-1"));
  await createMaster(deps, aMaster({ username: "ivy@example.com" }), aCall("op-2"));
  await updateInvestor(deps, { id: 1n, name: "Zoë", email: "zoe@example.com" }, aCall("op-3"));

  expect(await walk(deps, { name: "ivy" })).toEqual([]);
  expect(await walk(deps, { email: "ivy@example.com" })).toEqual([]);
  expect(await walk(deps, { name: "ZOË", email: "ZOE@example.com" })).toEqual(["3000001"]);
  const filter = { email: "IVY@example.com", name: "alpha" };
  expect(await listMasters(deps, { filter, ...FIRST }, aCall())).toMatchObject({
    items: [{ email: "ivy@example.com", master: { name: "Alpha", investorsCount: 0n, acceptingInvestors: true } }],
  });
});

test("a page is cut where its metadata would not fit into a message, and the next one goes on", async () => {
  const deps = await withMany(40);
  await deps.pool.query(
    `update profile set labels = jsonb_build_object('metadata', jsonb_build_object('a', repeat('x', 500), 'b', repeat('€', 20000)))
     where id <= 30`,
  );

  const page = await listInvestors(deps, { afterId: 0n, limit: 40 });
  expect([page.items.length < 40, page.hasMore]).toEqual([true, true]);
  expect((await walk(deps, {}, 40)).length).toBe(40);
});

test("a page costs the same at the end as at the start, under each filter and their combinations", async () => {
  const rows = 10_000;
  const deps = await withMany(rows);
  const tables = ["investor", "master", "profile"];
  const cost = (list: typeof readInvestors | typeof readMasters, page: AccountPage) =>
    inTransaction(deps.pool, (tx) => rowsRead(tx, tables, async () => void (await list(tx, page))));
  const late = rows - 100;
  const period = { createdFrom: afterSeconds(1), createdTo: afterSeconds(rows - 1) };

  for (const [list, name] of [
    [readInvestors, "Name"],
    [readMasters, "Fund"],
  ] as const) {
    for (const afterId of [0n, BigInt(late)]) {
      for (const part of [{}, { name: `${name} 00077` }, period, { ...period, name: `${name} 00077` }]) {
        for (const named of [{}, { externalId: "CRM-77" }, { email: "p77@example.com" }]) {
          expect(await cost(list, { filter: { ...part, ...named }, afterId, limit: 11 })).toBeLessThan(50);
        }
      }
    }
  }
});
