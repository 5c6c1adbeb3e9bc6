import { expect, test, vi } from "vitest";
import { aPool } from "./trading-pairs.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { allocateMaster } from "../jobs/allocate-results.ts";
import type { Deps } from "../deps.ts";
import { strikeWaitingFlows } from "../jobs/mark-masters.ts";
import { countMarketWaits } from "../store/market-waits.ts";
import { addHoldings } from "./add-holdings.ts";
import { expectBooksToReconcile } from "./books.ts";
import { deposit } from "./funding.ts";
import { balances, inBucket, holdingOf, poolLedger } from "./ledger.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { postingsAtPlatform } from "./postings-at-platform.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime } from "./world.ts";

test("archived Investors of a pool have no share in its results, and hold up no posting", async () => {
  const world = await aWorld();
  const { masterLogin, logins: investors, master } = await aPool(world, 600_00n, 400_00n);
  const gone = Array.from({ length: 5 }, () => anInvestor(world, 0n));
  for (const investorLogin of gone) {
    await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
  }
  master.result(10_00n);
  await deliver(world);
  // In the midst of the results, before these are posted.
  for (const login of gone) world.platform.ledger.archived.add(login);
  const position = master.open();
  master.result(90_01n);
  master.close(position, { profit: -20_00n });
  await settle(world);
  expect(balances(world, ...investors, masterLogin)).toEqual([648_01n, 432_00n, 1_080_01n]);
  expect(balances(world, ...gone).every((minor) => minor === 0n)).toBe(true);
  const stopped = await many(world.deps.pool, sql`select login from master_pool where stopped_reason is not null`);
  expect(stopped).toEqual([]);
  const { converged, investorsCount } = await world.service.getProof(
    { masterLogin, afterSubscriptionId: 0n, limit: 10 },
    aCall(),
  );
  expect({ converged, investorsCount }).toEqual({ converged: true, investorsCount: 7n });
  await expectBooksToReconcile(world);
});

test("a profit is allocated by the shares of the pool, to the cent, and posted to the accounts", async () => {
  const world = await aWorld();
  const { masterLogin, logins: investors, master } = await aPool(world, 1_000_00n, 1_000_00n, 1_000_00n);
  for (const result of [100_00n, 100_00n, 100_00n]) master.result(result);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_100_00n, 1_100_00n, 1_100_00n]);
  expect(balances(world, ...investors)).toEqual([1_100_00n, 1_100_00n, 1_100_00n]);
  const rows = await many(
    world.deps.pool,
    sql`select number, array_agg(amount_minor order by subscription_id) as parts
        from allocation_row
        group by number
        order by number`,
  );
  expect(rows).toEqual([
    { number: 1n, parts: [33_34n, 33_33n, 33_33n] },
    { number: 2n, parts: [33_33n, 33_34n, 33_33n] },
    { number: 3n, parts: [33_33n, 33_33n, 33_34n] },
  ]);
  // Results that waited together are one posting each.
  expect(postingsAtPlatform(world)).toEqual(investors.map(() => "1: 10000 applied"));
  await expectBooksToReconcile(world);
});

test("a deal between the mirror and the marks is allocated with the old units", async () => {
  const world = await aWorld();
  const { masterLogin, master, logins: investors } = await aPool(world, 1_000_00n, 0n);
  const position = master.open();
  await settle(world);
  await deposit(world, investors[1]!, 1_000_00n);
  let reads = 0;
  const readAccount: Deps["platform"]["readAccount"] = async (request, context) => {
    const answer = await world.platform.client.readAccount(request, context);
    reads += 1;
    // After the mirror, and after the account was read.
    if (reads === 1) {
      master.close(position, { profit: 300_00n });
      await deliver(world);
    }
    return answer;
  };
  const racing = { ...world, deps: { ...world.deps, platform: { ...world.platform.client, readAccount } } };
  await settle(racing);
  expect(reads).toBeGreaterThan(1);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_300_00n, 1_000_00n]);
  await expectBooksToReconcile(world);
});

test("while the marks of a Master cannot be read, inbound money waits with a reason, and results are still allocated", async () => {
  const world = await aWorld();
  const { masterLogin, master, logins: investors } = await aPool(world, 1_000_00n, 0n);
  master.open();
  getAccount(world.platform.ledger, masterLogin).isComplete = false;
  await deposit(world, investors[1]!, 500_00n);
  const before = world.deps.now();
  await settle(world);
  const isPaused = sql`select mark_next_at > ${before} as paused from master_pool`;
  expect(await many(world.deps.pool, isPaused)).toEqual([{ paused: true }]);
  master.charge(-10_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "waiting")).toEqual([0n, 500_00n]);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([990_00n, 0n]);
  const markState = sql`select mark_tries > 0 as tried, mark_reason as reason from master_pool`;
  expect(await many(world.deps.pool, markState)).toEqual([{ tried: true, reason: expect.stringContaining("deals") }]);
  getAccount(world.platform.ledger, masterLogin).isComplete = true;
  await passTime(world, 2_000);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([990_00n, 500_00n]);
  expect(await many(world.deps.pool, markState)).toEqual([{ tried: false, reason: null }]);
});

test("while nothing waits for a strike, no marks are read", async () => {
  const world = await aWorld();
  const { master } = await aPool(world, 1_000_00n);
  master.result(50_00n);
  await settle(world);
  const readAccount = () => Promise.reject(new Error("unexpected call"));
  const platform = { ...world.platform.client, readAccount };
  expect(await strikeWaitingFlows({ ...world.deps, platform })).toBe(false);
});

test("results before any Investor has units are kept in suspense and logged, and share with the first Investor as own capital", async () => {
  const world = await aWorld();
  const warn = vi.spyOn(world.deps.log, "warn");
  const masterLogin = aMaster(world, 0n);
  const master = trader(world, masterLogin);
  master.result(70_00n);
  const position = master.open();
  master.float(position, 30_00n);
  await settle(world);
  const { investorLogin } = await subscribed(world, masterLogin, 100_00n);
  master.close(position, { profit: 40_00n });
  await settle(world);
  expect(await poolLedger(world, masterLogin)).toMatchObject({
    external: 105_00n,
    holdings: [{ pooled: 105_00n }],
  });
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(105_00n);
  const suspended = "result kept in suspense, no Investor has units";
  expect(warn.mock.calls.filter(([message]) => message === suspended)).toEqual([
    [suspended, { login: masterLogin, number: 1n }],
  ]);
  await expectBooksToReconcile(world);
});

test("a pool in deficit is logged once, and accepts no Investor until the deficit is over", async () => {
  const world = await aWorld();
  const [warn, error] = [vi.spyOn(world.deps.log, "warn"), vi.spyOn(world.deps.log, "error")];
  const { masterLogin, master, logins: investors } = await aPool(world, 300_00n, 700_00n);
  master.result(-1_200_00n);
  master.charge(-10_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-63_00n, -147_00n]);
  expect(balances(world, ...investors)).toEqual([0n, 0n]);
  const deficit = "pool in deficit, no Investor can join until it is covered";
  expect(warn.mock.calls.filter(([message]) => message === deficit)).toHaveLength(1);
  expect(error).not.toHaveBeenCalled();
  expect(await countMarketWaits(world.deps.pool)).toMatchObject({ pool_deficit: 1 });
  const pair = { masterLogin, investorLogin: anInvestor(world, 500_00n) };
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({
    code: "safety_stop",
    status: "unavailable",
    outcome: "not_executed",
    message: expect.stringContaining("when a compensation of the broker"),
  });
  const [first] = investors;
  await expect(world.service.unassign({ masterLogin, investorLogin: first! }, aCall())).rejects.toMatchObject({
    code: "investor_deficit",
    message: expect.stringContaining("A compensation of the broker"),
    details: { deficit: "63.00" },
  });
  await expectBooksToReconcile(world);
});

test("the allocation of a deal to a thousand Investors needs fewer than 25 statements", async () => {
  const { world, masterLogin, id } = await aPair(100_00n);
  await addHoldings(world, id, 999);
  trader(world, masterLogin).result(1_000_00n);
  await deliver(world);
  let statements = 0;
  const pool = new Proxy(world.deps.pool, {
    get(target, name) {
      if (name !== "connect") return Reflect.get(target, name, target) as unknown;
      return async () => {
        const client = await target.connect();
        const query = client.query.bind(client) as (...args: unknown[]) => unknown;
        return new Proxy(client, {
          get(inner, method) {
            const value: unknown = Reflect.get(inner, method, inner);
            if (method === "query") statements += 1;
            return method === "query" ? query : typeof value === "function" ? value.bind(inner) : value;
          },
        });
      };
    },
  });
  await allocateMaster({ ...world.deps, pool }, masterLogin);
  expect(await many(world.deps.pool, sql`select number from allocation_row`)).toHaveLength(1_000);
  expect((await holdingOf(world, masterLogin, id))?.pooled).toBe(101_00n);
  expect(statements).toBeLessThan(25);
});
