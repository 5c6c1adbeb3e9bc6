import { expect, test } from "vitest";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { SearchInvestorsRequest } from "#proto/pamm/account/v1/account.ts";
import { createInvestor } from "../commands/create-investor.ts";
import { createMaster } from "../commands/create-master.ts";
import { updateInvestor } from "../commands/update-investor.ts";
import { updateMaster } from "../commands/update-master.ts";
import { type AccountSearch, listInvestorsFound, listMastersFound } from "../store/account-search.ts";
import { aCall, aMaster, anInvestor, world, type World } from "../testing/account.ts";
import { searchInvestors, searchMasters } from "./profiles.ts";

const ALL: SearchInvestorsRequest = { createdFrom: undefined, createdTo: undefined, afterId: 0n, limit: 10 };
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
    insert into profile (kind, login, external_id, email)
    select 'INVESTOR', n::text, 'CRM-' || n, 'P' || n || '@Example.com' from generate_series(1, ${rows}) as n;
    insert into profile (kind, login, external_id)
    select 'MASTER', (100000 + n)::text, 'CRM-' || n from generate_series(1, ${rows}) as n`);
  await asOwner(deps.pool, "account", "analyze");
  return deps;
}

/** `between` is called after each page with the ids of its items. */
async function walk(
  deps: World,
  search: Partial<SearchInvestorsRequest>,
  between: (ids: readonly bigint[]) => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  let after: Pick<SearchInvestorsRequest, "afterId" | "afterName"> = { afterId: 0n };
  for (let hasMore = true; hasMore;) {
    const page = await searchInvestors(deps, { ...ALL, ...search, ...after });
    seen.push(...page.items.map(({ investor }) => investor?.login ?? ""));
    hasMore = page.hasMore;
    const last = page.items.at(-1)?.investor;
    after = { afterId: last?.id ?? 0n, afterName: last?.name };
    await between(page.items.map(({ investor }) => investor?.id ?? 0n));
  }
  return seen;
}

test("Investors are walked by creation, or by name, without gap or repeat; filters are combined", async () => {
  const deps = await withMany(60);
  const all = Array.from({ length: 60 }, (_, index) => String(index + 1));
  const byCreation = all.toSorted((one, other) => ((Number(one) * 7) % 60) - ((Number(other) * 7) % 60));

  expect(await walk(deps, { limit: 7 })).toEqual(byCreation);
  expect(await walk(deps, { limit: 7, namePrefix: "nAmE" })).toEqual(all);
  expect(await walk(deps, { limit: 7, namePrefix: "name 0001" })).toEqual(all.slice(9, 19));
  const period = { createdFrom: afterSeconds(7), createdTo: afterSeconds(14) };
  expect(await walk(deps, { limit: 2, ...period })).toEqual(byCreation.slice(7, 14));
  expect(await walk(deps, { ...period, namePrefix: "Name 00001" })).toEqual(["1"]);
  expect(await walk(deps, { email: "p7@eXample.COM" })).toEqual(["7"]);
  expect(await walk(deps, { externalId: "CRM-8" })).toEqual(["8"]);
  expect(await walk(deps, { externalId: "crm-8" })).toEqual([]);
  expect(await walk(deps, { externalId: "CRM-8", email: "p7@example.com" })).toEqual([]);
  // % and _ are characters of a name.
  expect(await walk(deps, { namePrefix: "%" })).toEqual([]);
});

test("a renamed Investor with another address is found by the new ones only", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor(), aCall("op-1"));
  await createMaster(deps, aMaster({ username: "ivy@example.com" }), aCall("op-2"));
  await updateInvestor(deps, { id: 1n, name: "Zoë", email: "zoe@example.com" }, aCall("op-3"));

  expect(await walk(deps, { namePrefix: "ivy" })).toEqual([]);
  expect(await walk(deps, { email: "ivy@example.com" })).toEqual([]);
  expect(await walk(deps, { namePrefix: "ZOË", email: "ZOE@example.com" })).toEqual(["3000001"]);
  const masters = await searchMasters(deps, { ...ALL, email: "IVY@example.com", namePrefix: "alp" }, aCall());
  expect(masters).toMatchObject({
    items: [{ email: "ivy@example.com", master: { name: "Alpha", investorsCount: 0n, acceptingInvestors: true } }],
  });
});

test.each([
  ["to the end", "Name zz"],
  ["to the beginning", "Name 00000"],
  ["out of the filter", "Other"],
])("an Investor that is renamed %s between two pages makes no other one skip or come twice", async (_where, name) => {
  const deps = await withMany(20);
  let renamed = 0;
  // The last item of a page, from which the next one goes on, and another one.
  const seen = await walk(deps, { namePrefix: "name", limit: 3 }, async (ids) => {
    if (renamed > 2) return;
    for (const id of [ids.at(-1), ids[0]]) {
      renamed += 1;
      await updateInvestor(deps, { id: id ?? 0n, name: `${name} ${renamed}` }, aCall(`rename-${renamed}`));
    }
  });

  const changed = new Set(["1", "3", "4", "6"]);
  const unchanged = Array.from({ length: 20 }, (_, index) => String(index + 1)).filter((login) => !changed.has(login));
  expect(seen.filter((login) => !changed.has(login))).toEqual(unchanged);
});

test("a Master that is renamed between two pages makes no other one skip", async () => {
  const deps = await withMany(4);
  const first = await searchMasters(deps, { ...ALL, namePrefix: "fund", limit: 2 }, aCall());
  await updateMaster(deps, { id: 2n, name: "Fund zz", minDeposit: undefined }, aCall("rename"));

  const place = { afterId: 2n, afterName: first.items.at(-1)?.master?.name };
  const next = await searchMasters(deps, { ...ALL, namePrefix: "fund", limit: 2, ...place }, aCall());
  expect(next.items.map(({ master }) => master?.id)).toEqual([3n, 4n]);
  await expect(searchMasters(deps, { ...ALL, namePrefix: "fund", afterId: 2n }, aCall())).rejects.toMatchObject({
    errors: [{ field: "after_name" }],
  });
});

test("a page by creation after an account that is gone is refused; one by name goes on", async () => {
  const deps = await withMany(3);
  const lost = { code: "invalid_cursor", errors: [{ field: "cursor", code: "invalid_cursor" }] };

  const last = (await searchInvestors(deps, ALL)).items.at(-1)?.investor?.id ?? 0n;
  expect(await searchInvestors(deps, { ...ALL, afterId: last })).toEqual({ items: [], hasMore: false });
  await expect(searchInvestors(deps, { ...ALL, afterId: 99n })).rejects.toMatchObject(lost);
  await expect(searchMasters(deps, { ...ALL, afterId: 99n }, aCall())).rejects.toMatchObject(lost);
  const byName = await searchInvestors(deps, { ...ALL, namePrefix: "name", afterId: 99n, afterName: "Name 00001" });
  expect(byName.items.map(({ investor }) => investor?.login)).toEqual(["2", "3"]);
});

test("a page is cut where its metadata would not fit into a message, and the next one goes on", async () => {
  const deps = await withMany(40);
  await deps.pool.query(
    "update profile set metadata = jsonb_build_object('a', repeat('x', 500), 'b', repeat('€', 20000)) where id <= 30",
  );

  const page = await searchInvestors(deps, { ...ALL, limit: 40 });
  expect([page.items.length < 40, page.hasMore]).toEqual([true, true]);
  expect((await walk(deps, { limit: 40 })).length).toBe(40);
});

test("a page costs the same at the end as at the start, under each filter and their combinations", async () => {
  const rows = 10_000;
  const deps = await withMany(rows);
  const search: AccountSearch = { createdFrom: undefined, createdTo: undefined, afterId: 0n, limit: 11 };
  const tables = ["investor", "master", "profile"];
  const cost = (list: typeof listInvestorsFound | typeof listMastersFound, part: Partial<AccountSearch>) =>
    inTransaction(deps.pool, (tx) => rowsRead(tx, tables, async () => void (await list(tx, { ...search, ...part }))));
  const late = rows - 100;
  const period = { createdFrom: afterSeconds(1), createdTo: afterSeconds(rows - 1) };

  for (const [list, name] of [
    [listInvestorsFound, "Name"],
    [listMastersFound, "Fund"],
  ] as const) {
    for (const place of [{}, { afterId: BigInt(late), afterName: `${name} 0${late}` }]) {
      for (const part of [{}, { namePrefix: name }, period, { ...period, namePrefix: name }]) {
        for (const named of [{}, { externalId: "CRM-77" }, { email: "p77@example.com" }]) {
          expect(await cost(list, { ...part, ...place, ...named })).toBeLessThan(50);
        }
      }
    }
  }
});
