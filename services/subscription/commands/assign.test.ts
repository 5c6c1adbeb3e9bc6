import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { holdingOf, balances } from "../testing/ledger.ts";
import { balanceOf, enter, getAccount, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { settle, aPair, settleAndReconcile, subscribed } from "../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "../testing/world.ts";

async function assigned(world: World, balance = 500_00n, minDeposit = 100_00n) {
  const pair = { masterLogin: aMaster(world, minDeposit), investorLogin: anInvestor(world, balance) };
  return { ...pair, answer: world.service.assign(anAssignment(pair), aCall()) };
}

async function statuses({ deps }: World): Promise<string[]> {
  const rows = await many<{ status: string }>(deps.pool, sql`select status from subscription order by id`);
  return rows.map(({ status }) => status);
}

test("an assign returns the whole subscription; its fee terms apply from started_at, and the whole locked balance is inbound", async () => {
  const world = await aWorld();
  const { masterLogin, investorLogin, answer } = await assigned(world);
  const { subscription } = await answer;
  const master = await world.accounts.client.findMaster({ login: masterLogin }, aCall());
  const investor = await world.accounts.client.findInvestor({ login: investorLogin }, aCall());
  expect(subscription).toEqual({
    id: expect.any(BigInt),
    masterId: master.id,
    investorId: investor.id,
    masterLogin,
    investorLogin,
    status: SubscriptionStatus.ACTIVE,
    inPool: true,
    startedAt: expect.any(Date),
    endedAt: undefined,
    createdAt: expect.any(Date),
    balanceBaselineOpId: lastEntry(world.platform.ledger, investorLogin).entryId,
  });
  const { id, investorId, startedAt: effectiveSince } = subscription!;
  const terms = { investorId, investorLogin, ratePpm: 300_000, enabled: true, effectiveSince };
  expect(world.configured).toEqual([{ key: `subscription:${id}`, ...terms }]);
  expect(await holdingOf(world, masterLogin, id)).toMatchObject({ outside: 0n, inbound: 500_00n });
  expect(getAccount(world.platform.ledger, investorLogin).lockOwner).toBeUndefined();
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
});

test("a request with several invalid fields is refused with all of them", async () => {
  const world = await aWorld();
  const request = { masterLogin: "", investorLogin: "abc", feeRatePpm: 1_000_001, feeEnabled: true };
  await expect(world.service.assign(request, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    status: "invalid",
    errors: [{ field: "master_login" }, { field: "investor_login" }, { field: "perf_fee.rate" }],
  });
});

test("an unknown Master and an unknown Investor are refused with different codes", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const investorLogin = anInvestor(world, 500_00n);
  const assign = (pair: { masterLogin: string; investorLogin: string }) =>
    world.service.assign(anAssignment(pair), aCall());
  await expect(assign({ masterLogin: "99", investorLogin })).rejects.toMatchObject({ code: "master_not_found" });
  await expect(assign({ masterLogin, investorLogin: "99" })).rejects.toMatchObject({ code: "investor_not_found" });
  expect(await statuses(world)).toEqual([]);
});

test("a balance below the minimum is refused with both amounts, is not listed, and releases the account lock", async () => {
  const world = await aWorld();
  const { investorLogin, masterLogin, answer } = await assigned(world, 99_99n);
  await expect(answer).rejects.toMatchObject({
    code: "below_min_deposit",
    details: { required: "100.00", actual: "99.99" },
  });
  expect(getAccount(world.platform.ledger, investorLogin).lockOwner).toBeUndefined();
  expect(await statuses(world)).toEqual(["ABORTED"]);
  const all = { masterLogin, investorLogin: "", status: SubscriptionStatus.UNSPECIFIED, afterId: 0n, limit: 10 };
  expect((await world.service.listSubscriptions(all, aCall())).items).toEqual([]);
  expect(world.configured).toEqual([]);
});

test("an Investor that is assigned to a Master or is still leaving one is refused", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const other = { masterLogin: aMaster(world), investorLogin: pair.investorLogin };
  await expect(world.service.assign(anAssignment(other), aCall())).rejects.toMatchObject({
    code: "already_subscribed",
  });
  await world.service.unassign(pair, aCall());
  await expect(world.service.assign(anAssignment(other), aCall())).rejects.toMatchObject({ code: "exit_in_progress" });
  await settle(world);
  await expect(world.service.assign(anAssignment(other), aCall())).resolves.toBeDefined();
});

test("with single subscriptions the second one of an Investor is refused", async () => {
  const world = await aWorld({ isSingleSubscription: true });
  const pair = await subscribed(world, aMaster(world), 500_00n);
  await world.service.unassign(pair, aCall());
  await settle(world);
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({
    code: "investor_previously_subscribed",
  });
});

test("while the platform service is unavailable nothing is assigned, and a later assign succeeds", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  world.platform.state.isDown = true;
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
  world.platform.state.isDown = false;
  await settle(world);
  await expect(world.service.assign(anAssignment(pair), aCall())).resolves.toBeDefined();
  expect(await statuses(world)).toEqual(["ABORTED", "ACTIVE"]);
});

test("while the platform refuses to take the right to trade, the assignment is refused with its reason and nothing is pooled", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  world.platform.faults.hold.push("platform_rejected");
  const pooled = () => world.service.findPooled({ investorLogins: [pair.investorLogin, "1"] }, aCall());
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({
    code: "platform_rejected",
    status: "rejected",
    outcome: "not_executed",
    message: expect.stringMatching(/Nothing was executed\.$/),
  });
  expect([await statuses(world), await pooled()]).toEqual([["ABORTED"], { pooled: [], joining: [] }]);
  await world.service.assign(anAssignment(pair), aCall());
  expect(await pooled()).toEqual({ pooled: [pair.investorLogin], joining: [] });
  await settle(world);
  await world.service.unassign(pair, aCall());
  // PAUSED: its capital is still on the Master, or on its way.
  expect([(await statuses(world)).at(-1), await pooled()]).toEqual([
    "PAUSED",
    { pooled: [pair.investorLogin], joining: [] },
  ]);
  await settle(world);
  expect([(await statuses(world)).at(-1), await pooled()]).toEqual(["CANCELLED", { pooled: [], joining: [] }]);
});

test("a login whose account lock is held by another saga is busy", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  await world.platform.client.hold({ login: pair.investorLogin, lockOwner: "subscription:departure:1:1" }, aCall());
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({ code: "account_busy" });
  // Releasing a lock that it never had must not release the lock of the other saga.
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBe("subscription:departure:1:1");
});

test("a repeated command gets the same answer, also after the Investor has left", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const call = aCall();
  const first = await world.service.assign(anAssignment(pair), call);
  await expect(world.service.assign(anAssignment(pair), call)).resolves.toEqual(first);
  expect(await statuses(world)).toEqual(["ACTIVE"]);
  await settle(world);
  await world.service.unassign(pair, aCall());
  await settle(world);
  await expect(world.service.assign(anAssignment(pair), call)).resolves.toEqual(first);
  expect(await statuses(world)).toEqual(["CANCELLED"]);
});

test("concurrent deliveries of one command make one subscription and get the same answer", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const call = aCall();
  const answers = await Promise.all([1, 2, 3].map(() => world.service.assign(anAssignment(pair), call)));
  expect(new Set(answers.map(({ subscription }) => subscription!.id)).size).toBe(1);
  expect(await statuses(world)).toEqual(["ACTIVE"]);
});

test("of ten simultaneous assigns of one Investor exactly one succeeds", async () => {
  const world = await aWorld();
  const investorLogin = anInvestor(world, 500_00n);
  const masters = Array.from({ length: 10 }, () => aMaster(world));
  const answers = await Promise.allSettled(
    masters.map((masterLogin) => world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall())),
  );
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const answer of answers) {
    if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "already_subscribed" });
  }
  await settle(world);
  const mirrored = balances(world, ...masters);
  expect(mirrored.toSorted()).toEqual([...Array.from({ length: 9 }, () => 0n), 500_00n]);
  await expectBooksToReconcile(world);
});

test("a Master that does not accept refuses assignments, and keeps the Investors that it has", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  world.accounts.setAccepting(masterLogin, false);
  const other = { masterLogin, investorLogin: anInvestor(world, 500_00n) };
  const command = aCall();

  await expect(world.service.assign(anAssignment(other), command)).rejects.toMatchObject({
    code: "master_not_accepting",
    outcome: "not_executed",
    details: { state: "not_accepting" },
  });
  expect(await statuses(world)).toEqual(["ACTIVE"]);
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.DEPOSIT, amount: 50_00n, key: "more" });
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(550_00n);
  await world.service.unassign({ masterLogin, investorLogin }, aCall());
  world.accounts.setAccepting(masterLogin, true);
  await expect(world.service.assign(anAssignment(other), command)).resolves.toMatchObject({ subscription: {} });
});
