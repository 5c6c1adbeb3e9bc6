import { expect, test, vi } from "vitest";
import { poolLedger, balances, proofOf } from "../testing/ledger.ts";
import { many, one, sql } from "#kernel/postgres/query.ts";
import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { MirrorApplied } from "#proto/pamm/subscription/v1/events.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { deposit, takeFee } from "../testing/funding.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { mirrors } from "../checks/mirrors.ts";
import { countMarketWaits } from "../store/market-waits.ts";
import { endings } from "../checks/endings.ts";
import { unassign } from "../commands/unassign.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";
import { mirrorOpenFlows } from "./mirror-open-flows.ts";

function mirrorsOf({ platform }: World): string[] {
  return [...platform.byKey.keys()].filter((key) => key.startsWith("subscription:mirror:"));
}

test("the mirrors of several Masters are recorded together and requested by one call", async () => {
  const world = await aWorld();
  const pairs = [await subscribed(world, aMaster(world), 500_00n), await subscribed(world, aMaster(world), 400_00n)];
  for (const { investorLogin } of pairs) await deposit(world, investorLogin, 10_00n);
  await deliver(world);
  const calls = vi.spyOn(world.platform.client, "transferBatch");
  await mirrorOpenFlows(world.deps);
  expect(calls.mock.calls.map(([{ requests }]) => requests.map(({ legs }) => legs[0]!.login).toSorted())).toEqual([
    pairs.map(({ masterLogin }) => masterLogin).toSorted(),
  ]);
  await settleAndReconcile(world);
  expect(pairs.map(({ masterLogin }) => balanceOf(world.platform.ledger, masterLogin))).toEqual([510_00n, 410_00n]);
});

test("while the feed is far behind, the flows of a Master wait for further ones, for half a minute at most", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const before = mirrorsOf(world).length;
  world.state.lag = 1_000n;
  await deposit(world, investorLogin, 10_00n);
  await settle(world);
  await deposit(world, investorLogin, 20_00n);
  await settle(world);
  expect(mirrorsOf(world)).toHaveLength(before);

  await passTime(world, 30_000);
  await settle(world);
  expect(mirrorsOf(world)).toHaveLength(before + 1);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(530_00n);

  await deposit(world, investorLogin, 10_00n);
  world.state.lag = 999n;
  await settleAndReconcile(world);
  expect(mirrorsOf(world)).toHaveLength(before + 2);
});

test("the flows of a mirror are published when the log of the Master contains it", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const published = await many<{ subject: string; payload: Uint8Array }>(
    world.deps.pool,
    sql`select subject, payload from outbox where feed = 'subscription.mirrors'`,
  );
  expect(published.map(({ subject }) => subject)).toEqual([`mirror.v1.applied.${pair.masterLogin}`]);
  const [entry] = getAccount(world.platform.ledger, pair.masterLogin).log.slice(-1);
  expect(MirrorApplied.decode(published[0]!.payload)).toEqual({
    masterLogin: pair.masterLogin,
    amount: { currencyCode: "USD", minorUnits: 500_00n },
    dealId: entry!.dealId,
    flows: [
      {
        subscriptionId: pair.id,
        investorLogin: pair.investorLogin,
        amount: { currencyCode: "USD", minorUnits: 500_00n },
      },
    ],
  });
});

test("mirrors of one Master are sent in order; flows during a mirror go into the next", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.platform.rules.delay = ({ key }) => key.startsWith("subscription:mirror:");
  const before = mirrorsOf(world).length;
  for (const amount of [10_00n, 20_00n, 30_00n]) {
    await deposit(world, investorLogin, amount);
    await settle(world);
  }
  expect(mirrorsOf(world)).toHaveLength(before + 1);
  world.platform.rules.delay = () => false;
  executeWaiting(world.platform);
  await settleAndReconcile(world);
  expect(mirrorsOf(world)).toHaveLength(before + 2);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(560_00n);
});

test("a mirror whose outcome stays open does not delay the mirrors of other Masters", async () => {
  const { world, ...delayed } = await aPair(500_00n);
  const healthy = await subscribed(world, aMaster(world), 500_00n);
  world.platform.rules.delay = ({ legs }) => legs.some(({ login }) => login === delayed.masterLogin);
  await deposit(world, delayed.investorLogin, 10_00n);
  await deposit(world, healthy.investorLogin, 10_00n);
  await settle(world);
  expect(balances(world, delayed.masterLogin, healthy.masterLogin)).toEqual([500_00n, 510_00n]);
});

test("the flows of a refused mirror go into the next, under a new key, after a growing pause, without a limit", async () => {
  const world = await aWorld();
  world.platform.rules.refuse = ({ key }) => (key.startsWith("subscription:mirror:") ? "platform_rejected" : undefined);
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  await world.service.assign(anAssignment(pair), aCall());
  const pauses: number[] = [];
  for (let number = 1; number <= 10; number += 1) {
    await settleAndReconcile(world);
    const { wait, reason, refusals } = await one<{ wait: number; reason: string; refusals: number }>(
      world.deps.pool,
      sql`select extract(epoch from mirror_next_at - clock_timestamp())::float8 * 1000 as wait, mirror_reason as reason, mirror_refusals as refusals from master_pool`,
    );
    expect({ reason, refusals }).toEqual({ reason: "refused: platform_rejected", refusals: number });
    pauses.push(wait);
    await passTime(world, 31_000);
  }
  expect(new Set(mirrorsOf(world)).size).toBe(10);
  expect(pauses.at(-1)).toBeGreaterThan(pauses[0]! * 10);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);

  world.platform.rules.refuse = () => undefined;
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(500_00n);
  const after = sql`select mirror_reason as reason, mirror_refusals as refusals from master_pool`;
  expect(await many(world.deps.pool, after)).toEqual([{ reason: null, refusals: 0 }]);
  await expectBooksToReconcile(world);
});

test("while the platform service is unavailable mirrors wait with a reason, and are then applied once", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await deposit(world, investorLogin, 10_00n);
  await deliver(world);
  world.platform.state.isDown = true;
  for (let runs = 0; runs < 4; runs += 1) {
    await mirrorOpenFlows(world.deps);
    await passTime(world, 31_000);
  }
  expect(await many(world.deps.pool, sql`select reason from mirror where state = 'OPEN'`)).toEqual([
    { reason: "platform_unavailable" },
  ]);
  world.platform.state.isDown = false;
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(510_00n);
});

test("a mirror whose answer and event were lost is applied when the log of the Master contains it", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await deposit(world, investorLogin, 10_00n);
  await deliver(world);
  const lossy = {
    ...world.platform.client,
    async transferBatch(...args: Parameters<typeof world.platform.client.transferBatch>) {
      await world.platform.client.transferBatch(...args);
      throw new Error("the answer is lost");
    },
  };
  await mirrorOpenFlows({ ...world.deps, platform: lossy });
  await passTime(world, 31_000);
  await mirrorOpenFlows(world.deps);
  const { holdings } = await poolLedger(world, masterLogin);
  expect(holdings).toMatchObject([{ waiting: 10_00n, inbound: 0n }]);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(510_00n);
});

test("flows above the maximum of one transfer are mirrored in several mirrors", async () => {
  const { world, masterLogin } = await aPair(250_000_000_000n);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(250_000_000_000n);
  expect(mirrorsOf(world)).toHaveLength(3);
  await expectBooksToReconcile(world);
});

/** A platform that lets no money leave a Master above this free margin. */
function limitMargin({ platform }: World, free: bigint): void {
  platform.rules.refuse = ({ legs: [leg] }) =>
    (leg?.kind === MovementKind.MIRROR || leg?.kind === MovementKind.EXIT) && -(leg.amount?.minorUnits ?? 0n) > free
      ? "insufficient_funds"
      : undefined;
}

const findingsOf = async ({ deps }: World) => {
  const request = { cursor: "", pendingBreaks: [] };
  const runs = [await mirrors(deps).run(request), await endings(deps).run(request)];
  return runs.flatMap(({ findings }) => findings);
};

test("a fee above the free margin of open positions waits for them, and nothing else waits for it", async () => {
  const world = await aWorld();
  const logged = (["info", "warn", "error"] as const).map((level) => vi.spyOn(world.deps.log, level));
  const { masterLogin, investorLogin } = await subscribed(world, aMaster(world), 7_500_00n);
  const master = trader(world, masterLogin);
  const position = master.open();
  master.float(position, -1_200_00n);
  await settle(world);
  limitMargin(world, 0n);
  await takeFee(world, investorLogin, { key: "fee:1", amount: 390_00n });
  await settle(world);
  const balance = () => balanceOf(world.platform.ledger, masterLogin);
  const waits = async () => (await proofOf(world, masterLogin)).waits;
  expect(balance()).toBe(7_500_00n);
  expect(await waits()).toMatchObject([
    {
      reason: MarketWaitReason.FREE_MARGIN,
      amount: { minorUnits: 390_00n },
      message: expect.stringMatching(/^390\.00 USD of fees/),
    },
  ]);

  expect(await countMarketWaits(world.deps.pool)).toEqual({ free_margin: 1, old_price: 0, pool_deficit: 0 });

  // A deposit, a result and its posting, and another fee, whose mirror joins the one that waits.
  await deposit(world, investorLogin, 100_00n);
  master.result(50_00n);
  await takeFee(world, investorLogin, { key: "fee:2", amount: 10_00n });
  await settleAndReconcile(world);
  expect(balance()).toBe(7_650_00n);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(7_250_00n);
  expect(await waits()).toMatchObject([{ amount: { minorUnits: 400_00n } }]);

  // For hours: few attempts, and no break.
  const before = mirrorsOf(world).length;
  for (let minutes = 0; minutes < 120; minutes += 5) {
    await passTime(world, 300_000);
    await settle(world);
    expect(await findingsOf(world)).toEqual([]);
  }
  expect(mirrorsOf(world).length - before).toBeLessThan(16);
  const beginning = "mirror refused for want of free margin, its outflows wait";
  expect(logged.flatMap(({ mock }) => mock.calls.map(([message]) => message))).toEqual([beginning]);
  expect(balance()).toBe(7_650_00n);

  master.close(position, { profit: -1_200_00n });
  limitMargin(world, 1_000_000_00n);
  await settle(world);
  await passTime(world, 60_000);
  await settle(world);
  expect(balance()).toBe(6_050_00n);
  expect(await waits()).toEqual([]);
  const state = sql`select margin_since as since, margin_refusals as refusals, mirror_reason as reason from master_pool`;
  expect(await many(world.deps.pool, state)).toEqual([{ since: null, refusals: 0, reason: null }]);
  await expectBooksToReconcile(world);
});

test("an exit above the free margin of positions that were opened meanwhile waits; the Investor stays PAUSED without a break", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await subscribed(world, masterLogin, 500_00n);
  limitMargin(world, 100_00n);
  world.platform.rules.delay = ({ key }) => key.startsWith("exit:");
  await unassign(world.deps, { masterLogin, investorLogin }, aCall()).catch(() => undefined);
  const master = trader(world, masterLogin);
  const position = master.open();
  world.platform.rules.delay = () => false;
  for (let minutes = 0; minutes < 60; minutes += 5) {
    await settle(world);
    await passTime(world, 300_000);
    await settle(world);
    expect(await findingsOf(world)).toEqual([]);
  }
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(1_000_00n);
  expect([...world.platform.byKey.keys()].filter((key) => key.startsWith("exit:")).length).toBeLessThan(15);
  master.close(position, { profit: 0n });
  world.platform.rules.refuse = () => undefined;
  await settle(world);
  await passTime(world, 60_000);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
  const { subscription } = await world.service.findOpenSubscription({ investorLogin }, aCall());
  expect(subscription).toBeUndefined();
  await expectBooksToReconcile(world);
});

test("without open positions margin is no reason: a mirror above the balance is refused, and late", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  limitMargin(world, 0n);
  await takeFee(world, investorLogin, { key: "fee:1", amount: 10_00n });
  await settle(world);
  await world.deps.pool.query("update flow set created_at = created_at - interval '61 seconds'");
  expect(await findingsOf(world)).toMatchObject([{ evidence: { reason: "refused: insufficient_funds" } }]);
});

test("a process that dies after a refusal for want of margin leaves an open mirror, whose refusal is found under its key", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const position = trader(world, masterLogin).open();
  await settle(world);
  limitMargin(world, 0n);
  await takeFee(world, investorLogin, { key: "fee:1", amount: 10_00n });
  await deliver(world);
  const before = mirrorsOf(world).length;
  const dying = {
    ...world.platform.client,
    async transferBatch(...args: Parameters<typeof world.platform.client.transferBatch>) {
      await world.platform.client.transferBatch(...args);
      throw new Error("the process dies");
    },
  };
  await mirrorOpenFlows({ ...world.deps, platform: dying });
  expect(await many(world.deps.pool, sql`select margin_since as since from master_pool`)).toEqual([{ since: null }]);
  // The limit is gone, but the key has its answer.
  world.platform.rules.refuse = () => undefined;
  await passTime(world, 31_000);
  await mirrorOpenFlows(world.deps);
  expect(mirrorsOf(world)).toHaveLength(before + 1);
  expect(await many(world.deps.pool, sql`select state from mirror order by id desc limit 1`)).toEqual([
    { state: "REFUSED" },
  ]);
  trader(world, masterLogin).close(position, { profit: 0n });
  await settle(world);
  await passTime(world, 1_000);
  await settleAndReconcile(world);
  expect(mirrorsOf(world)).toHaveLength(before + 2);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(490_00n);
});
