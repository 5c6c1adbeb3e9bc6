import { expect, test } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { type ListSubscriptionsRequest, SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { subscriptionService } from "../service.ts";
import { settle, subscribed, aPair } from "../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld } from "../testing/world.ts";

const ALL: ListSubscriptionsRequest = {
  masterLogin: "",
  investorLogin: "",
  status: SubscriptionStatus.UNSPECIFIED,
  afterId: 0n,
  limit: 1_000,
};

test("subscriptions are filtered by Master, Investor and status, also for each of those who are asked for at the same time", async () => {
  const { world, ...one } = await aPair(500_00n);
  const other = await subscribed(world, aMaster(world), 500_00n);
  await world.service.unassign(other, aCall());
  const { investorLogin } = one;
  const { ACTIVE, PAUSED, CANCELLED } = SubscriptionStatus;
  const asked: readonly (readonly [Partial<ListSubscriptionsRequest>, readonly bigint[]])[] = [
    [{}, [one.id, other.id]],
    [{ masterLogin: one.masterLogin }, [one.id]],
    [{ masterLogin: "99" }, []],
    [{ status: ACTIVE }, [one.id]],
    [{ status: PAUSED }, [other.id]],
    [{ status: CANCELLED }, []],
    [{ investorLogin }, [one.id]],
    [{ investorLogin, masterLogin: one.masterLogin, status: ACTIVE }, [one.id]],
    [{ investorLogin, masterLogin: other.masterLogin }, []],
    [{ investorLogin, status: PAUSED }, []],
    [{ investorLogin, afterId: one.id }, []],
    [{ investorLogin: other.investorLogin, status: PAUSED }, [other.id]],
    [{ investorLogin: "99" }, []],
  ];
  const answers = await Promise.all(
    asked.map(([filter]) => world.service.listSubscriptions({ ...ALL, ...filter }, aCall())),
  );
  expect(answers).toMatchObject(asked.map(([, ids]) => ({ items: ids.map((id) => ({ id })), hasMore: false })));
});

test("an Investor with more subscriptions than a page is listed page by page", async () => {
  const { world, investorLogin, id } = await aPair(500_00n);
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

test("who is in a pool is found from both sides, listed by id with names, and counted, without those who leave or have left", async () => {
  const { world, masterLogin, ...first } = await aPair(500_00n);
  const { service } = world;
  const second = await subscribed(world, masterLogin, 500_00n);
  const third = await subscribed(world, masterLogin, 500_00n);
  const { investorLogin } = second;
  const master = async (login: string) => await service.getActiveMaster({ investorLogin: login }, aCall());
  const open = async (login: string) =>
    (await service.findOpenSubscription({ investorLogin: login }, aCall())).subscription;
  expect(await master(investorLogin)).toEqual({
    masterLogin,
    name: `Master ${masterLogin}`,
    startedAt: expect.any(Date),
  });
  expect(await open(investorLogin)).toMatchObject({ id: second.id, status: SubscriptionStatus.ACTIVE, inPool: true });
  await service.unassign(second, aCall());
  const none = { masterLogin: undefined, name: undefined, startedAt: undefined };
  expect([await master(investorLogin), await master(anInvestor(world))]).toEqual([none, none]);
  await expect(master("99")).rejects.toMatchObject({ code: "investor_not_found" });
  expect(await open(investorLogin)).toMatchObject({ id: second.id, status: SubscriptionStatus.PAUSED, inPool: false });

  const page = { masterLogin, afterInvestorId: 0n, limit: 1 };
  const one = await service.listActiveInvestors(page, aCall());
  expect(one).toEqual({
    items: [{ id: expect.any(BigInt), login: first.investorLogin, name: `Investor ${first.investorLogin}` }],
    hasMore: true,
  });
  const rest = await service.listActiveInvestors({ ...page, afterInvestorId: one.items[0]!.id }, aCall());
  expect(rest).toMatchObject({ items: [{ login: third.investorLogin }], hasMore: false });
  const empty = aMaster(world);
  const counted = await service.countActiveInvestors({ masterLogins: [masterLogin, empty, "99"] }, aCall());
  expect(counted).toEqual({ counts: [{ masterLogin, investors: 2n }] });
  expect(await service.listActiveInvestors({ ...page, masterLogin: empty }, aCall())).toEqual({
    items: [],
    hasMore: false,
  });
  await expect(service.listActiveInvestors({ ...page, masterLogin: "99" }, aCall())).rejects.toMatchObject({
    code: "master_not_found",
  });
  await settle(world);
  expect([await open(investorLogin), await open("99")]).toEqual([undefined, undefined]);
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
