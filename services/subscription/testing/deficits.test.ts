import { expect, test } from "vitest";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { externalFundsMaster } from "../checks/external-funds.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { mirrorOpenFlows } from "../jobs/mirror-open-flows.ts";
import { expectBooksToReconcile } from "./books.ts";
import { completeWithdrawal, decideWithdrawal, deposit, holdForWithdrawal, withdraw } from "./funding.ts";
import { getDeparture } from "../store/departures.ts";
import { balances, cents, inBucket, holdingOf } from "./ledger.ts";
import { decide, reviewsOf, reviewWithReason, vote } from "./reviews.ts";
import { deliver, type Pair, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { type Trader, trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime, type World } from "./world.ts";

type Pool = {
  readonly world: World;
  readonly masterLogin: string;
  readonly pairs: readonly [Pair, Pair];
  readonly master: Trader;
};

/** Two Investors of 1,000.00 whose Master has lost 2,500.00. */
async function aDeficit(): Promise<Pool> {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const pairs = [
    await subscribed(world, masterLogin, 1_000_00n),
    await subscribed(world, masterLogin, 1_000_00n),
  ] as const;
  const master = trader(world, masterLogin);
  master.result(-2_500_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-250_00n, -250_00n]);
  return { world, masterLogin, pairs, master };
}

function compensated(world: World, login: string, amount: bigint): void {
  trader(world, login).compensate(amount);
}

/** The broker charges the Master. */
function charged({ platform }: World, login: string, amount: bigint): void {
  enter(platform.ledger, login, { kind: MovementKind.EXTERNAL, action: 4, amount });
}

async function onMaster({ deps }: World): Promise<string[]> {
  const { findings } = await externalFundsMaster(deps).run({ cursor: "", pendingBreaks: [] });
  return findings.map(({ message }) => message);
}

test("a compensation is no result: it is in no part, in no fee and in no track record", async () => {
  const { world, masterLogin } = await aDeficit();
  const before = await many(world.deps.pool, sql`select * from performance_day`);
  compensated(world, masterLogin, 200_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-150_00n, -150_00n]);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([-150_00n, -150_00n]);
  const entries = sql`select result_minor, own_minor, raised_minor from allocation_entry order by number`;
  expect(await many(world.deps.pool, entries)).toEqual([
    { result_minor: -2_500_00n, own_minor: 0n, raised_minor: 0n },
    { result_minor: 0n, own_minor: 0n, raised_minor: 200_00n },
  ]);
  const all = { masterLogin, from: undefined, to: undefined, beforeLogNumber: 0n, limit: 1 };
  const { items } = await world.service.listResults(all, aCall());
  expect(items.map(({ result, raised }) => [cents(result), cents(raised)])).toEqual([[0n, 200_00n]]);
  const rows = sql`select sum(amount_minor)::bigint as earned from allocation_row group by subscription_id`;
  expect(await many(world.deps.pool, rows)).toEqual([{ earned: -1_250_00n }, { earned: -1_250_00n }]);
  expect(await many(world.deps.pool, sql`select * from performance_day`)).toEqual(before);
  await expectBooksToReconcile(world);
});

test("a charge during a deficit is allocated to the deal that is named, as no Investor has a share now", async () => {
  const { world, masterLogin } = await aDeficit();
  const [loss] = await many<{ id: bigint }>(world.deps.pool, sql`select deal_id as id from allocation_entry`);
  charged(world, masterLogin, -50_00n);
  await settle(world);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review.actions).toEqual(["acknowledge", "allocate"]);
  await expect(vote(world.deps, review, { action: "allocate", actor: "anna" })).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringMatching(
      /^No Investor of this pool has a part of -50.00 USD now.* Name the ticket of the deal/,
    ),
  });
  expect(await reviewWithReason(world, "external_funds_on_master")).toMatchObject({ state: ReviewState.OPEN });

  await decide(world, review, "allocate", loss?.id);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-275_00n, -275_00n]);
  expect(await onMaster(world)).toEqual([]);
  compensated(world, masterLogin, 550_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n, 0n]);
  expect(await reviewsOf(world)).toEqual([]);
  expect(await onMaster(world)).toEqual([]);
});

test("a charge during a deficit that the compensation has covered is acknowledged, also when it was proposed to allocate it", async () => {
  const { world, masterLogin } = await aDeficit();
  const [loss] = await many<{ id: bigint }>(world.deps.pool, sql`select deal_id as id from allocation_entry`);
  charged(world, masterLogin, -50_00n);
  await settle(world);
  const proposed = await reviewWithReason(world, "external_funds_on_master");
  await vote(world.deps, proposed, { action: "allocate", dealId: loss?.id ?? 0n, actor: "anna" });
  compensated(world, masterLogin, 550_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n, 0n]);
  expect(await onMaster(world)).toEqual([
    `50.00 USD was taken from Master ${masterLogin} without this service, and its own capital is 0.00 now: no Investor lacks it. Review required: acknowledge it.`,
  ]);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review).toMatchObject({ id: proposed.id, state: ReviewState.OPEN, actions: ["acknowledge"] });
  await decide(world, review, "acknowledge");
  await settleAndReconcile(world);
  expect(await reviewsOf(world)).toEqual([]);
  expect(await onMaster(world)).toEqual([]);
});

test("what a compensation has covered of a charge is not allocated again", async () => {
  const { world, masterLogin } = await aDeficit();
  const [loss] = await many<{ id: bigint }>(world.deps.pool, sql`select deal_id as id from allocation_entry`);
  charged(world, masterLogin, -50_00n);
  await settle(world);
  compensated(world, masterLogin, 275_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-125_00n, -125_00n]);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "allocate", loss?.id);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-137_50n, -137_50n]);
  expect(await onMaster(world)).toEqual([]);
});

test("money that waits for the end of a deficit can be withdrawn, also by an Investor below zero", async () => {
  const { world, masterLogin, pairs } = await aDeficit();
  const [, { investorLogin, id }] = pairs;
  await deposit(world, investorLogin, 100_00n);
  await deposit(world, investorLogin, 200_00n);
  await settle(world);
  expect(await withdraw(world, investorLogin, 120_00n, "1")).toBe(120_00n);
  await settleAndReconcile(world);
  expect(await holdingOf(world, masterLogin, id)).toMatchObject({ inbound: 180_00n, outside: 0n, pooled: -250_00n });
  expect(await withdraw(world, investorLogin, 500_00n, "2")).toBe(180_00n);
  await settle(world);
  expect(balances(world, masterLogin, investorLogin)).toEqual([-500_00n, 0n]);
  expect(await holdingOf(world, masterLogin, id)).toMatchObject({ inbound: 0n, outside: 0n, pooled: -250_00n });
  await expect(withdraw(world, investorLogin, 1_00n, "3")).rejects.toMatchObject({
    code: "investor_deficit",
  });
  compensated(world, masterLogin, 500_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n, 0n]);
});

test("a withdrawal that was refused for good waits for its mirror again, and so does one whose deficit ended meanwhile", async () => {
  const { world, masterLogin, pairs } = await aDeficit();
  const [, { investorLogin, id }] = pairs;
  await deposit(world, investorLogin, 300_00n);
  await settle(world);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 100_00n);
  const decision = { effective: 100_00n, before: 300_00n, subscriptionId: null, masterLogin: null };
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject(decision);
  expect(await holdingOf(world, masterLogin, id)).toMatchObject({ inbound: 200_00n, outside: 100_00n });
  // The deficit ends before the payout: what is reserved stays reserved.
  compensated(world, masterLogin, 500_00n);
  await settle(world);
  expect(await holdingOf(world, masterLogin, id)).toMatchObject({ inbound: 0n, outside: 100_00n, pooled: 200_00n });
  world.platform.rules.refuse = ({ key }) => (key.startsWith("withdrawal:") ? "platform_rejected" : undefined);
  await completeWithdrawal(world, withdrawal);
  await expect(getDeparture(world.deps.pool, withdrawal.operationId)).resolves.toMatchObject({ state: "REFUSED" });
  await settleAndReconcile(world);
  expect(await holdingOf(world, masterLogin, id)).toMatchObject({ inbound: 0n, outside: 0n, pooled: 300_00n });
});

test("an Investor who joined at the moment of the loss waits, pays nothing, and can leave", async () => {
  const { world, masterLogin } = await aPair(1_000_00n);
  const [joining, leaving] = [anInvestor(world, 400_00n), anInvestor(world, 50_00n)];
  await deliver(world);
  for (const investorLogin of [joining, leaving]) {
    await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
  }
  // The loss is filed, and not allocated yet, when the mirror would be sent.
  trader(world, masterLogin).result(-1_200_00n);
  await deliver(world);
  await mirrorOpenFlows(world.deps);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(-200_00n);
  await world.service.unassign({ masterLogin, investorLogin: leaving }, aCall());
  await settle(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([0n, 400_00n]);
  const assign = world.service.assign(anAssignment({ masterLogin, investorLogin: leaving }), aCall());
  await expect(assign).rejects.toMatchObject({ code: "safety_stop" });
  compensated(world, masterLogin, 200_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n, 400_00n]);
  expect(balances(world, masterLogin, joining, leaving)).toEqual([400_00n, 400_00n, 50_00n]);
});

test("when a dealer covers the hole, a deposit of an Investor below zero waits until operators have raised it", async () => {
  const { world, masterLogin, pairs } = await aDeficit();
  const [, second] = pairs;
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 500_00n });
  await settle(world);
  await deposit(world, second.investorLogin, 300_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([0n, 300_00n]);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "compensate_deficit");
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n, 300_00n]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(300_00n);
});

test("a preview shows what a withdrawal and an exit would come to during a deficit", async () => {
  const { world, masterLogin, pairs } = await aDeficit();
  const [, { investorLogin }] = pairs;
  await deposit(world, investorLogin, 300_00n);
  await settle(world);
  const request = { investorLogin, requested: moneyToProto(usd(500_00n)), comment: "" };
  const { refusals, figures, inPool } = await world.service.previewWithdrawal(request, aCall());
  expect([refusals, cents(figures?.balanceBefore), cents(figures?.effective), inPool]).toEqual([
    [],
    300_00n,
    300_00n,
    false,
  ]);
  const exit = await world.service.previewUnassign({ masterLogin, investorLogin }, aCall());
  expect(exit.refusals.map(({ code }) => code)).toEqual(["investor_deficit"]);
});

test("a mirror that was opened before the loss was known is not sent while the deficit lasts", async () => {
  const { world, masterLogin, investorLogin } = await aPair(100_00n);
  await deposit(world, investorLogin, 50_00n);
  await deliver(world);
  world.platform.state.isDown = true;
  await mirrorOpenFlows(world.deps);
  world.platform.state.isDown = false;
  trader(world, masterLogin).result(-130_00n);
  await passTime(world, 60_000);
  await deliver(world);
  await allocateResults(world.deps);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(-30_00n);
  compensated(world, masterLogin, 30_00n);
  await settle(world);
  await passTime(world, 60_000);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(50_00n);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([50_00n]);
});

/** An Investor of 1,000.00, one who joins with 550.00 while a position floats -450.00, and a loss of 1,200.00 on another: cash of 350.00. */
async function aCoveredLoss(floating: bigint): Promise<Pool & { readonly position: bigint }> {
  const { world, ...first } = await aPair(1_000_00n);
  const { masterLogin } = first;
  const master = trader(world, masterLogin);
  const position = master.open();
  master.float(position, -450_00n);
  const second = await subscribed(world, masterLogin, 550_00n);
  master.float(position, floating);
  master.result(-1_200_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([400_00n, -50_00n]);
  return { world, masterLogin, pairs: [first, second], master, position };
}

test("what floats now covers a loss: deposits are mirrored, and a compensation raises no Investor", async () => {
  const { world, masterLogin, pairs, master, position } = await aCoveredLoss(750_00n);
  const [, second] = pairs;
  await settle(world);
  await deposit(world, second.investorLogin, 100_00n);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(450_00n);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([0n, 0n]);
  compensated(world, masterLogin, 12_00n);
  await settle(world);
  expect(await many(world.deps.pool, sql`select * from compensation`)).toEqual([]);
  master.close(position, { profit: 750_00n });
  await settleAndReconcile(world);
  // 100.00 joined at 550.00 each; the compensation was a result.
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([555_50n, 656_50n]);
});

test("deposits wait while what floats exceeds the capital, and are mirrored soon after it has come back", async () => {
  const { world, masterLogin, pairs, master, position } = await aCoveredLoss(750_00n);
  await settle(world);
  master.float(position, -360_00n);
  await passTime(world, world.deps.valuedEveryMs);
  await settle(world);
  await deposit(world, pairs[0].investorLogin, 100_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([100_00n, 0n]);
  master.float(position, -340_00n);
  await passTime(world, 10_000);
  await settle(world);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([0n, 0n]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(450_00n);
});
