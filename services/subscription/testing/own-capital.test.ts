import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { externalFundsMaster } from "../checks/external-funds.ts";
import { expectBooksToReconcile } from "./books.ts";
import { balances, ownCapitalOf, sharesOf } from "./ledger.ts";
import { decide, reviewsOf, reviewWithReason, vote } from "./reviews.ts";
import { settle, subscribed, settleAndReconcile } from "./settle.ts";
import { LOT, trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime, type World } from "./world.ts";

/** A dealer moves money on the Master; the services receive it with the next run. */
function moved(world: World, login: string, amount: bigint): void {
  enter(world.platform.ledger, login, { kind: MovementKind.EXTERNAL, amount });
}

/** A registered Master with this balance, and one Investor in its pool. */
async function aRegistered(balance: bigint, invested: bigint) {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n, balance);
  return { world, ...(await subscribed(world, masterLogin, invested)), trades: trader(world, masterLogin) };
}

test("the floating result of positions at registration belongs to own capital", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n, 900_00n);
  const trades = trader(world, masterLogin);
  const position = trades.open({ volume: 2n * LOT });
  trades.float(position, 100_00n);
  await settle(world);
  expect(await many(world.deps.pool, sql`select own_units::text as units from master_pool`)).toEqual([
    { units: "100000000000" },
  ]);
  await subscribed(world, masterLogin, 1_000_00n);
  trades.close(position, { profit: 140_00n });
  await settleAndReconcile(world);
  expect(await sharesOf(world, masterLogin)).toEqual([1_020_00n, 1_020_00n]);
});

test("own capital is quarantined until two operators acknowledge it, and each later movement is a new case", async () => {
  const { world, masterLogin, trades } = await aRegistered(5_000_00n, 1_000_00n);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([5_000_00n, 0n, false]);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review).toMatchObject({ amount: { minorUnits: 5_000_00n }, actions: ["acknowledge"] });
  // A result between the reading and the decision does not change what was decided about.
  trades.result(600_00n);
  await settle(world);
  await decide(world, review, "acknowledge");
  await settle(world);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 5_500_00n, true]);
  trades.result(60_00n);
  await settle(world);
  expect(await reviewsOf(world)).toEqual([]);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 5_550_00n, true]);

  moved(world, masterLogin, -5_000_00n);
  await settle(world);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([550_00n, 0n, false]);
  const again = await reviewWithReason(world, "external_funds_on_master");
  expect(again.amount?.minorUnits).toBe(-5_000_00n);
  await decide(world, again, "acknowledge");
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 550_00n, true]);
  await expectBooksToReconcile(world);
});

test("own capital below zero stays quarantined until the money is back, and costs the Investors nothing", async () => {
  const { world, masterLogin, trades } = await aRegistered(100_00n, 1_000_00n);
  moved(world, masterLogin, -400_00n);
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
  trades.result(30_00n);
  await settle(world);
  expect(await sharesOf(world, masterLogin)).toEqual([1_030_00n, -300_00n]);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([-300_00n, 0n, false]);
  expect(await reviewWithReason(world, "external_funds_on_master")).toMatchObject({
    amount: { minorUnits: -300_00n },
    actions: ["allocate"],
  });
  expect(await many(world.deps.pool, sql`select is_in_deficit as deficit from master_pool`)).toEqual([
    { deficit: false },
  ]);
  moved(world, masterLogin, 300_00n);
  await settleAndReconcile(world);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 0n, true]);
  expect(await reviewsOf(world)).toEqual([]);
});

const LACKS_MONEY = { code: "master_not_accepting", outcome: "not_executed", details: { state: "lacks_money" } };

async function breaksOf({ deps }: World): Promise<readonly string[]> {
  const { findings } = await externalFundsMaster(deps).run({ cursor: "", pendingBreaks: [] });
  return findings.map(({ message }) => message);
}

/** No Investor can be assigned, and a preview says why. */
async function expectToRefuseInvestors(world: World, masterLogin: string): Promise<void> {
  const request = anAssignment({ masterLogin, investorLogin: anInvestor(world, 1_000_00n) });
  await expect(world.service.assign(request, aCall())).rejects.toMatchObject(LACKS_MONEY);
  const { refusals } = await world.service.previewAssign(request, aCall());
  expect(refusals.map(({ code }) => code)).toEqual(["master_not_accepting"]);
}

/** An Investor joins, and leaves with all of it. */
async function expectToServe(world: World, masterLogin: string): Promise<void> {
  const pair = await subscribed(world, masterLogin, 1_000_00n);
  await world.service.unassign(pair, aCall());
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.investorLogin)).toBe(1_000_00n);
  expect(await many(world.deps.pool, sql`select from subscription where status <> 'CANCELLED'`)).toEqual([]);
  expect(await reviewsOf(world)).toEqual([]);
  expect(await breaksOf(world)).toEqual([]);
  expect(await ownCapitalOf(world, masterLogin)).toMatchObject([0n, expect.anything(), true]);
  await expectBooksToReconcile(world);
}

test("what falls on own capital after the last Investor has left is the amount of its review, and a loss keeps others away until it is paid in", async () => {
  const { world, masterLogin, investorLogin, trades } = await aRegistered(0n, 1_000_00n);
  await world.service.unassign({ masterLogin, investorLogin }, aCall());
  await settle(world);
  trades.charge(-30_00n);
  await settle(world);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review).toMatchObject({ amount: { minorUnits: -30_00n }, actions: ["acknowledge"], cause: undefined });
  await expectToRefuseInvestors(world, masterLogin);
  // A result between the proposal and its confirmation does not end it.
  await vote(world.deps, review, { action: "acknowledge", actor: "anna" });
  trades.charge(-1_00n);
  await settle(world);
  expect(await vote(world.deps, review, { action: "acknowledge", actor: "boris" })).toMatchObject({
    amount: { minorUnits: -31_00n },
  });
  await settle(world);
  // No Investor has money there, so nothing waits for a decision any more; one who came would pay for it.
  expect([await reviewsOf(world), await breaksOf(world)]).toEqual([[], []]);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([-31_00n, 0n, false]);
  await expectToRefuseInvestors(world, masterLogin);
  moved(world, masterLogin, 31_00n);
  await settle(world);
  await expectToServe(world, masterLogin);
});

test("exactly what own capital lacks needs no decision when it is paid in, any other amount does", async () => {
  const { world, masterLogin, investorLogin, trades } = await aRegistered(0n, 1_000_00n);
  await world.service.unassign({ masterLogin, investorLogin }, aCall());
  await settle(world);
  trades.charge(-30_00n);
  await settle(world);
  moved(world, masterLogin, 10_00n);
  await settle(world);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review).toMatchObject({ amount: { minorUnits: 10_00n }, cause: { action: 2, comment: "" } });
  await decide(world, review, "acknowledge");
  await expectToRefuseInvestors(world, masterLogin);
  moved(world, masterLogin, 20_00n);
  await settle(world);
  await expectToServe(world, masterLogin);
});

test("a charge that is acknowledged without own capital stays under review while Investors have money there, who may still bear it", async () => {
  const { world, masterLogin } = await aRegistered(0n, 1_000_00n);
  moved(world, masterLogin, -250_00n);
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
  await settle(world);
  await expectToRefuseInvestors(world, masterLogin);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review).toMatchObject({ amount: { minorUnits: -250_00n }, actions: ["allocate"] });
  await decide(world, review, "allocate");
  await settleAndReconcile(world);
  expect(await sharesOf(world, masterLogin)).toEqual([750_00n, 0n]);
  expect([await reviewsOf(world), await breaksOf(world)]).toEqual([[], []]);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 0n, true]);
});

test("the last Investor of a Master that lacks money waits until it is paid in, which is the only way then", async () => {
  const { world, masterLogin, investorLogin } = await aRegistered(0n, 1_000_00n);
  moved(world, masterLogin, -250_00n);
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
  await world.service.unassign({ masterLogin, investorLogin }, aCall());
  await settle(world);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review).toMatchObject({ amount: { minorUnits: -250_00n }, actions: ["allocate"] });
  await expectToRefuseInvestors(world, masterLogin);
  await expect(vote(world.deps, review, { action: "allocate", actor: "anna" })).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("have it paid in"),
  });
  moved(world, masterLogin, 250_00n);
  await passTime(world, 3_600_000);
  await settle(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(1_000_00n);
  await expectToServe(world, masterLogin);
});

test("a gain on own capital after the last Investor has left is acknowledged, or given to those who had the deal", async () => {
  for (const action of ["acknowledge", "allocate"]) {
    const { world, masterLogin, investorLogin, trades } = await aRegistered(0n, 1_000_00n);
    const { dealId } = trades.result(-50_00n);
    await settle(world);
    await world.service.unassign({ masterLogin, investorLogin }, aCall());
    await settle(world);
    trades.charge(20_00n);
    await settle(world);
    const review = await reviewWithReason(world, "external_funds_on_master");
    expect(review).toMatchObject({ amount: { minorUnits: 20_00n }, actions: ["acknowledge", "allocate"] });
    await decide(world, review, action, action === "allocate" ? dealId : 0n);
    await settle(world);
    const isAllocated = action === "allocate";
    expect(balances(world, investorLogin, masterLogin)).toEqual([
      isAllocated ? 970_00n : 950_00n,
      isAllocated ? 0n : 20_00n,
    ]);
    await expectToServe(world, masterLogin);
  }
});
