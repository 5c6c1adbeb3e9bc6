import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { unassign } from "../commands/unassign.ts";
import { mirrorOpenFlows } from "../jobs/mirror-open-flows.ts";
import { expectBooksToReconcile } from "./books.ts";
import { decideWithdrawal, deposit, holdForWithdrawal } from "./funding.ts";
import { inBucket, holdingOf, balances, stopReasonOf } from "./ledger.ts";
import { balanceOf, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { decide, reviewWithReason } from "./reviews.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime } from "./world.ts";

test("a Master with an amended deal is stopped until manual review", async () => {
  const world = await aWorld();
  const error = vi.spyOn(world.deps.log, "error");
  const masterLogin = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, masterLogin, 500_00n);
  const { dealId } = trader(world, masterLogin).result(10_00n);
  await settle(world);
  for (let times = 0; times < 2; times += 1) trader(world, masterLogin).amended("deal_gone", dealId);
  await settle(world);
  expect(await stopReasonOf(world)).toBe(`deal_gone: deal ${dealId}`);
  expect(error).toHaveBeenCalledExactlyOnceWith("Master stopped, manual review required", {
    login: masterLogin,
    reason: `deal_gone: deal ${dealId}`,
  });

  trader(world, masterLogin).result(20_00n);
  await deposit(world, investorLogin, 30_00n);
  await settle(world);
  // Nothing is allocated, mirrored or struck.
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([510_00n]);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([30_00n]);
  const pair = { masterLogin, investorLogin: anInvestor(world, 500_00n) };
  const stop = { code: "safety_stop", status: "unavailable", outcome: "not_executed" };
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject(stop);
  await expect(world.service.unassign({ masterLogin, investorLogin }, aCall())).rejects.toMatchObject(stop);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 1_00n);
  await expect(decideWithdrawal(world, withdrawal)).rejects.toMatchObject(stop);
  await expectBooksToReconcile(world);
});

test("an amended deal on an Investor in a pool stops that Master only", async () => {
  const world = await aWorld();
  const [masterLogin, other] = [aMaster(world, 0n), aMaster(world, 0n)];
  const { investorLogin } = await subscribed(world, masterLogin, 500_00n);
  const otherPair = await subscribed(world, other, 300_00n);
  trader(world, investorLogin).amended("deal_changed");
  await settle(world);
  expect(
    await many(world.deps.pool, sql`select login, stopped_reason as reason from master_pool order by login`),
  ).toEqual(
    [
      { login: masterLogin, reason: "deal_changed: deal 77" },
      { login: other, reason: null },
    ].sort((left, right) => (left.login < right.login ? -1 : 1)),
  );
  for (const login of [masterLogin, other]) trader(world, login).result(10_00n);
  await deposit(world, investorLogin, 30_00n);
  await deposit(world, otherPair.investorLogin, 30_00n);
  await settleAndReconcile(world);
  expect(await holdingOf(world, masterLogin, 1n)).toMatchObject({ pooled: 500_00n, inbound: 30_00n, unposted: 0n });
  expect(await holdingOf(world, other, 2n)).toMatchObject({ pooled: 340_00n, inbound: 0n, unposted: 0n });
});

test("results to post wait while their Master is stopped, and those of other Masters are posted", async () => {
  const world = await aWorld();
  const [masterLogin, other] = [aMaster(world, 0n), aMaster(world, 0n)];
  const { investorLogin } = await subscribed(world, masterLogin, 500_00n);
  const otherPair = await subscribed(world, other, 300_00n);
  const held = [investorLogin, otherPair.investorLogin].map((login) => ({ login, lockOwner: `other:${login}` }));
  for (const accountLock of held) await world.platform.client.hold(accountLock, aCall());
  for (const login of [masterLogin, other]) trader(world, login).result(10_00n);
  await settle(world);
  trader(world, investorLogin).amended();
  await settle(world);
  for (const accountLock of held) await world.platform.client.release(accountLock, aCall());
  await passTime(world, 60_000);
  await settleAndReconcile(world);
  expect(balances(world, investorLogin, otherPair.investorLogin)).toEqual([500_00n, 310_00n]);
});

test("a recorded mirror that is not sent yet waits while its Master is stopped", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await deposit(world, investorLogin, 30_00n);
  await deliver(world);
  world.platform.state.isDown = true;
  await mirrorOpenFlows(world.deps);
  world.platform.state.isDown = false;
  trader(world, masterLogin).amended();
  await deliver(world);
  await passTime(world, 60_000);
  await settle(world);
  expect(await many(world.deps.pool, sql`select amount_minor as amount from mirror where state = 'OPEN'`)).toEqual([
    { amount: 30_00n },
  ]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(500_00n);
  await decide(world, await reviewWithReason(world, "stopped"), "resume");
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(530_00n);
});

test("while the fees of the Master are stopped departures are refused with safety_stop, and nothing is decided", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const { deps, fees } = world;
  fees.rules.isStopped = true;
  const stop = { code: "safety_stop", outcome: "not_executed" };
  await expect(unassign(deps, { masterLogin, investorLogin }, aCall())).rejects.toMatchObject(stop);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 1_00n);
  await expect(decideWithdrawal(world, withdrawal)).rejects.toMatchObject(stop);
  expect(await many(deps.pool, sql`select key from reserve`)).toEqual([]);
  fees.rules.isStopped = false;
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({ effective: 1_00n });
});

test("an amended deal on an Investor outside a pool is only filed", async () => {
  const world = await aWorld();
  const investorLogin = anInvestor(world, 500_00n);
  trader(world, investorLogin).amended("deal_changed");
  await settle(world);
  expect(await many(world.deps.pool, sql`select from master_pool where stopped_reason is not null`)).toEqual([]);
  const { number } = lastEntry(world.platform.ledger, investorLogin);
  const filed = sql`select filed_number as filed from investor_account where login = ${investorLogin}`;
  expect(await many(world.deps.pool, filed)).toEqual([{ filed: number }]);
  await expectBooksToReconcile(world);
});

test("a recorded position that the trading platform does not show stops the Master, and its floating result is not lost", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const master = trader(world, masterLogin);
  const position = master.open();
  master.float(position, 100_00n);
  await deposit(world, investorLogin, 50_00n);
  await settle(world);
  world.platform.ledger.accounts.get(masterLogin)!.positions.splice(0);
  await deposit(world, investorLogin, 50_00n);
  await settleAndReconcile(world);
  expect(await stopReasonOf(world)).toContain("open in the books");
  expect(await inBucket(world, masterLogin, "waiting")).toEqual([50_00n]);
});
