import { expect, test } from "vitest";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type ListSubscriptionsRequest, SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { subscriptionService } from "../service.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed } from "../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld } from "../testing/world.ts";
import { poolLedger } from "../testing/pool-ledger.ts";

const ALL: ListSubscriptionsRequest = {
  masterLogin: "",
  investorLogin: "",
  status: SubscriptionStatus.UNSPECIFIED,
  afterId: 0n,
  limit: 1_000,
};

test("subscriptions are listed by id, page by page, without gap or repeat", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  for (let made = 0; made < 5; made += 1) await subscribed(world, masterLogin, 500_00n);
  const whole = await world.service.listSubscriptions(ALL, aCall());
  expect(whole).toMatchObject({ hasMore: false, items: { length: 5 } });
  const first = await world.service.listSubscriptions({ ...ALL, limit: 3 }, aCall());
  const second = await world.service.listSubscriptions({ ...ALL, limit: 3, afterId: first.items[2]!.id }, aCall());
  expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  expect([...first.items, ...second.items]).toEqual(whole.items);
});

test("subscriptions are filtered by Master, Investor and status; unknown logins match none", async () => {
  const world = await aWorld();
  const one = await subscribed(world, aMaster(world), 500_00n);
  const other = await subscribed(world, aMaster(world), 500_00n);
  await world.service.unassign(other, aCall());
  const ids = async (filter: Partial<ListSubscriptionsRequest>) => {
    const { items } = await world.service.listSubscriptions({ ...ALL, ...filter }, aCall());
    return items.map(({ id }) => id);
  };
  expect(await ids({})).toEqual([one.id, other.id]);
  expect(await ids({ masterLogin: one.masterLogin })).toEqual([one.id]);
  expect(await ids({ investorLogin: other.investorLogin })).toEqual([other.id]);
  expect(await ids({ status: SubscriptionStatus.ACTIVE })).toEqual([one.id]);
  expect(await ids({ status: SubscriptionStatus.PAUSED })).toEqual([other.id]);
  expect(await ids({ status: SubscriptionStatus.CANCELLED })).toEqual([]);
  expect(await ids({ masterLogin: "99" })).toEqual([]);
});

test("subscriptions of Investors that are asked for at the same time are filtered for each by itself", async () => {
  const world = await aWorld();
  const one = await subscribed(world, aMaster(world), 500_00n);
  const other = await subscribed(world, aMaster(world), 500_00n);
  await world.service.unassign(other, aCall());
  const { investorLogin } = one;
  const asked: readonly (readonly [Partial<ListSubscriptionsRequest>, readonly bigint[]])[] = [
    [{ investorLogin }, [one.id]],
    [{ investorLogin, masterLogin: one.masterLogin, status: SubscriptionStatus.ACTIVE }, [one.id]],
    [{ investorLogin, masterLogin: other.masterLogin }, []],
    [{ investorLogin, status: SubscriptionStatus.PAUSED }, []],
    [{ investorLogin, afterId: one.id }, []],
    [{ investorLogin: other.investorLogin, status: SubscriptionStatus.PAUSED }, [other.id]],
    [{ investorLogin: "99" }, []],
  ];
  const answers = await Promise.all(
    asked.map(([filter]) => world.service.listSubscriptions({ ...ALL, ...filter }, aCall())),
  );
  expect(answers).toMatchObject(asked.map(([, ids]) => ({ items: ids.map((id) => ({ id })), hasMore: false })));
});

test("an Investor with more subscriptions than a page is listed page by page", async () => {
  const world = await aWorld();
  const { investorLogin, id } = await subscribed(world, aMaster(world), 500_00n);
  await world.deps.pool.query(
    `insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at,
                               started_at, ended_at, baseline_entry_id)
     select '', 1, 1, '77', $1, 'CANCELLED', now(), now(), now(), 1 from generate_series(1, 1001)`,
    [investorLogin],
  );
  const first = await world.service.listSubscriptions({ ...ALL, investorLogin }, aCall());
  const afterId = first.items.at(-1)?.id ?? 0n;
  const second = await world.service.listSubscriptions({ ...ALL, investorLogin, afterId }, aCall());
  expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  const ids = [...first.items, ...second.items].map((item) => item.id);
  expect(ids).toEqual(Array.from({ length: 1_002 }, (_, index) => id + BigInt(index)));
});

test("an invalid page size and cursor are refused together", async () => {
  const world = await aWorld();
  await expect(world.service.listSubscriptions({ ...ALL, limit: 0, afterId: -1n }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "after_id" }, { field: "limit" }],
  });
  await expect(world.service.listSubscriptions({ ...ALL, limit: 1_001 }, aCall())).rejects.toMatchObject({
    errors: [{ field: "limit" }],
  });
});

test("the active Master is returned only while the Investor is in its pool", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const { investorLogin, masterLogin } = pair;
  expect(await world.service.getActiveMaster({ investorLogin }, aCall())).toEqual({
    masterLogin,
    name: `Master ${masterLogin}`,
    startedAt: expect.any(Date),
  });
  await world.service.unassign(pair, aCall());
  const none = { masterLogin: undefined, name: undefined, startedAt: undefined };
  expect(await world.service.getActiveMaster({ investorLogin }, aCall())).toEqual(none);
  expect(await world.service.getActiveMaster({ investorLogin: anInvestor(world) }, aCall())).toEqual(none);
  await expect(world.service.getActiveMaster({ investorLogin: "99" }, aCall())).rejects.toMatchObject({
    code: "investor_not_found",
  });
});

test("active Investors are listed by id with their names, without a leaving Investor", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const [first, second, third] = [
    await subscribed(world, masterLogin, 500_00n),
    await subscribed(world, masterLogin, 500_00n),
    await subscribed(world, masterLogin, 500_00n),
  ];
  await world.service.unassign(second, aCall());
  const page = { masterLogin, afterInvestorId: 0n, limit: 1 };
  const one = await world.service.listActiveInvestors(page, aCall());
  expect(one).toEqual({
    items: [{ id: expect.any(BigInt), login: first.investorLogin, name: `Investor ${first.investorLogin}` }],
    hasMore: true,
  });
  const rest = await world.service.listActiveInvestors({ ...page, afterInvestorId: one.items[0]!.id }, aCall());
  expect(rest).toMatchObject({ items: [{ login: third.investorLogin }], hasMore: false });
});

test("a Master without Investors has an empty list, an unknown one is refused", async () => {
  const world = await aWorld();
  const page = { afterInvestorId: 0n, limit: 10 };
  const empty = await world.service.listActiveInvestors({ ...page, masterLogin: aMaster(world) }, aCall());
  expect(empty).toEqual({ items: [], hasMore: false });
  await expect(world.service.listActiveInvestors({ ...page, masterLogin: "99" }, aCall())).rejects.toMatchObject({
    code: "master_not_found",
  });
  await expect(
    world.service.listActiveInvestors({ masterLogin: "99", afterInvestorId: -1n, limit: 0 }, aCall()),
  ).rejects.toMatchObject({ errors: [{ field: "after_investor_id" }, { field: "limit" }] });
});

test("active Investors are counted for many Masters at once; Masters without any are left out", async () => {
  const world = await aWorld();
  const [followed, empty] = [aMaster(world), aMaster(world)];
  await subscribed(world, followed, 500_00n);
  const leaving = await subscribed(world, followed, 500_00n);
  await subscribed(world, followed, 500_00n);
  await world.service.unassign(leaving, aCall());
  const masterLogins = [followed, empty, "99"];
  expect(await world.service.countActiveInvestors({ masterLogins }, aCall())).toEqual({
    counts: [{ masterLogin: followed, investors: 2n }],
  });
  await expect(world.service.countActiveInvestors({ masterLogins: [] }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
  });
});

test("the open subscription is found while ACTIVE and PAUSED, without a call to another service", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const { investorLogin, id } = pair;
  const find = async () => (await world.service.findOpenSubscription({ investorLogin }, aCall())).subscription;
  expect(await find()).toMatchObject({ id, status: SubscriptionStatus.ACTIVE, inPool: true });
  await world.service.unassign(pair, aCall());
  expect(await find()).toMatchObject({ id, status: SubscriptionStatus.PAUSED, inPool: false });
  await settle(world);
  expect(await find()).toBeUndefined();
  expect(await world.service.findOpenSubscription({ investorLogin: "99" }, aCall())).toEqual({
    subscription: undefined,
  });
});

test("the pool ledger has the expected balance of the Master at its last filed log entry", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const { masterLogin } = pair;
  const investorLogin = anInvestor(world, 200_00n);
  await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 7_00n });
  enter(world.platform.ledger, pair.investorLogin, { kind: MovementKind.EXTERNAL, amount: 3_00n });
  await deliver(world);
  const money = (minor: bigint) => moneyToProto(usd(minor));
  const nothing = money(0n);
  const holding = {
    unposted: nothing,
    inbound: nothing,
    waiting: nothing,
    reserved: nothing,
    outbound: nothing,
    outside: nothing,
  };
  expect(await poolLedger(world, masterLogin)).toEqual({
    expectedMasterBalance: money(507_00n),
    filedLogNumber: 2n,
    external: money(7_00n),
    holdings: [
      {
        ...holding,
        subscriptionId: pair.id,
        investorLogin: pair.investorLogin,
        status: "ACTIVE",
        pooled: money(500_00n),
        quarantined: money(3_00n),
      },
      {
        ...holding,
        subscriptionId: pair.id + 1n,
        investorLogin,
        status: "ACTIVE",
        inbound: money(200_00n),
        pooled: nothing,
        quarantined: nothing,
      },
    ],
  });
});

test("a Master without filed entries has an empty ledger", async () => {
  const world = await aWorld();
  expect(await poolLedger(world, aMaster(world))).toMatchObject({
    expectedMasterBalance: { minorUnits: 0n },
    filedLogNumber: 0n,
    holdings: [],
  });
});

test("while the account service is unavailable requests are refused as not executed", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const investorLogin = anInvestor(world);
  const lost = async (): Promise<never> => {
    throw new Refusal({ code: "outcome_unknown", status: "unknown_outcome", message: "no answer", outcome: "unknown" });
  };
  const accounts = { ...world.deps.accounts, findMaster: lost, findInvestor: lost, findAccounts: lost };
  const service = subscriptionService({ ...world.deps, accounts });
  const unavailable = { code: "service_unavailable", status: "unavailable", outcome: "not_executed" };
  const pair = { masterLogin, investorLogin };
  await expect(service.assign(anAssignment(pair), aCall())).rejects.toMatchObject(unavailable);
  await expect(service.unassign(pair, aCall())).rejects.toMatchObject(unavailable);
  await expect(service.getActiveMaster(pair, aCall())).rejects.toMatchObject(unavailable);
  const page = { masterLogin, afterInvestorId: 0n, limit: 1 };
  await expect(service.listActiveInvestors(page, aCall())).rejects.toMatchObject(unavailable);
});
