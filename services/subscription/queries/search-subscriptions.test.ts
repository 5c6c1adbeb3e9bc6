import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { type SearchSubscriptionsRequest, SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { VISIBLE_STATUSES } from "../domain/lifecycle.ts";
import { aCall, aWorld, type World } from "../testing/world.ts";
import { listSubscriptionsByStart, type SubscriptionSearch } from "../store/subscription-lists.ts";

const ALL: SearchSubscriptionsRequest = {
  masterLogin: "",
  investorLogin: "",
  status: SubscriptionStatus.UNSPECIFIED,
  from: undefined,
  to: undefined,
  beforeId: 0n,
  limit: 1_000,
};
const ROWS = 6_000;
const START = new Date("2026-03-01T00:00:00Z");

const afterSeconds = (seconds: number) => new Date(START.getTime() + seconds * 1_000);

/**
 * One started each second in another sequence than their ids: two in three are CANCELLED, one in sixty is ACTIVE, the others PAUSED. One
 * in ten follows Master 77. One more has not begun.
 */
async function worldWithMany(rows: number): Promise<World> {
  const world = await aWorld();
  await execute(
    world.deps.pool,
    sql`insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at, started_at,
                                  ended_at, baseline_entry_id)
        select '', 1, n, case when n % 10 = 0 then '77' else '78' end, (1000000 + n)::text,
               case when n % 3 > 0 then 'CANCELLED' when n % 60 = 0 then 'ACTIVE' else 'PAUSED' end,
               ${START}::timestamptz, ${START}::timestamptz + (n * 7 % ${rows}) * interval '1 second',
               case when n % 3 > 0 then now() end, 1
        from generate_series(1, ${rows}::int) as n
        union all
        select '', 1, 1, '77', '999', 'ASSIGNING', now(), null, null, null`,
  );
  return world;
}

async function walk({ service }: World, search: Partial<SearchSubscriptionsRequest>): Promise<string[]> {
  const seen: string[] = [];
  let beforeId = 0n;
  for (let hasMore = true; hasMore;) {
    const page = await service.searchSubscriptions({ ...ALL, ...search, beforeId }, aCall());
    seen.push(...page.items.map(({ investorLogin }) => investorLogin));
    hasMore = page.hasMore;
    beforeId = page.items.at(-1)?.id ?? 0n;
  }
  return seen;
}

test("subscriptions are walked newest first, without gap or repeat, under each filter", async () => {
  const world = await worldWithMany(600);
  const whole = await walk(world, {});
  const startedAt = (login: string) => ((Number(login) - 1_000_000) * 7) % 600;
  const matching = (keep: (number: number) => boolean) => whole.filter((login) => keep(Number(login) - 1_000_000));

  expect(whole).toEqual(whole.toSorted((one, other) => startedAt(other) - startedAt(one)));
  expect(new Set(whole).size).toBe(600);
  const limit = 7;
  expect(await walk(world, { limit })).toEqual(whole);
  expect(await walk(world, { limit, masterLogin: "77" })).toEqual(matching((number) => number % 10 === 0));
  expect(await walk(world, { limit, investorLogin: "1000033" })).toEqual(["1000033"]);
  expect(await walk(world, { limit, investorLogin: "1000033", masterLogin: "77" })).toEqual([]);
  expect(await walk(world, { limit, status: SubscriptionStatus.ACTIVE })).toEqual(
    matching((number) => number % 60 === 0),
  );
  const period = { from: afterSeconds(100), to: afterSeconds(110) };
  expect((await walk(world, { limit, ...period })).map(startedAt)).toEqual([
    109, 108, 107, 106, 105, 104, 103, 102, 101, 100,
  ]);
  expect(await walk(world, { limit, ...period, status: SubscriptionStatus.ACTIVE, masterLogin: "77" })).toEqual(
    matching((number) => number % 60 === 0 && (number * 7) % 600 >= 100 && (number * 7) % 600 < 110),
  );
});

test("a page after a subscription that is gone is refused, and not taken for the end of the list", async () => {
  const world = await worldWithMany(3);
  const oldest = (await world.service.searchSubscriptions(ALL, aCall())).items.at(-1)?.id ?? 0n;
  const after = (beforeId: bigint) => world.service.searchSubscriptions({ ...ALL, beforeId }, aCall());

  expect(await after(oldest)).toEqual({ items: [], hasMore: false });
  await expect(after(9_999n)).rejects.toMatchObject({ code: "invalid_cursor", errors: [{ field: "cursor" }] });
});

test("a page costs the same at the end as at the start, also of a rare status", async () => {
  const { deps } = await worldWithMany(ROWS);
  const search: SubscriptionSearch = { ...ALL, statuses: VISIBLE_STATUSES, limit: 21 };
  const cost = (part: Partial<SubscriptionSearch>) =>
    inTransaction(deps.pool, (tx) =>
      rowsRead(tx, ["subscription"], async () => void (await listSubscriptionsByStart(tx, { ...search, ...part }))),
    );
  const last = async (statuses: SubscriptionSearch["statuses"]) =>
    (await listSubscriptionsByStart(deps.pool, { ...search, statuses, limit: ROWS })).at(-30)?.id ?? 0n;

  for (const part of [{}, { masterLogin: "77" }, { from: afterSeconds(10), to: afterSeconds(ROWS - 10) }]) {
    expect(await cost(part)).toBeLessThan(100);
    expect(await cost({ ...part, beforeId: await last(VISIBLE_STATUSES) })).toBeLessThan(100);
    expect(await cost({ ...part, statuses: ["ACTIVE"], beforeId: await last(["ACTIVE"]) })).toBeLessThan(50);
  }
});
