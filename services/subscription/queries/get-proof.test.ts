import { expect, test } from "vitest";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type AccountProof, type GetProofRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import { deposit } from "../testing/funding.ts";
import { enter, getAccount, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed, aPair } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, aWorld, type World } from "../testing/world.ts";

const proofOf = (world: World, masterLogin: string, own: Partial<GetProofRequest> = {}) =>
  world.service.getProof({ masterLogin, afterSubscriptionId: 0n, limit: 1_000, ...own }, aCall());

/** Platform, ledger, in flight, quarantined, difference. */
function amountsOf(proof: AccountProof | undefined) {
  const { platformBalance, ledgerBalance, inFlight, quarantined, difference } = proof ?? {};
  return [platformBalance, ledgerBalance, inFlight, quarantined, difference].map((money) => money?.minorUnits);
}

test("a pool without movements has converged: each balance equals the sum of its buckets", async () => {
  const { world, ...first } = await aPair(1_000_00n);
  const { masterLogin: master } = first;
  const second = await subscribed(world, master, 500_00n);
  trader(world, master).result(30_00n);
  await settle(world);

  const proof = await proofOf(world, master);

  expect(amountsOf(proof.master)).toEqual([1_530_00n, 1_530_00n, 0n, 0n, 0n]);
  expect(proof.investors.map(amountsOf)).toEqual([
    [1_020_00n, 1_020_00n, 0n, 0n, 0n],
    [510_00n, 510_00n, 0n, 0n, 0n],
  ]);
  expect(amountsOf(proof.total)).toEqual([3_060_00n, 3_060_00n, 0n, 0n, 0n]);
  expect(proof.investors.map(({ login, subscriptionId }) => [login, subscriptionId])).toEqual([
    [first.investorLogin, first.id],
    [second.investorLogin, second.id],
  ]);
  expect(proof.master).toMatchObject({ login: master, lastDealId: lastEntry(world.platform.ledger, master).dealId });
  expect(proof).toMatchObject({ converged: true, lagMs: 0n, hasMore: false, investorsCount: 2n });
});

test("movements that are not applied on both accounts are in flight, and the pool has not converged", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(1_000_00n);
  await deposit(world, investorLogin, 40_00n);
  // The deposit is on the platform and not filed yet.
  const unfiled = await proofOf(world, master);
  expect(amountsOf(unfiled.investors[0])).toEqual([1_040_00n, 1_000_00n, 0n, 0n, 40_00n]);
  expect(unfiled.converged).toBe(false);
  await deliver(world);
  const moving = await proofOf(world, master);
  expect(amountsOf(moving.master)).toEqual([1_000_00n, 1_000_00n, 40_00n, 0n, 0n]);
  expect(moving.converged).toBe(false);
  await settle(world);
  expect(await proofOf(world, master)).toMatchObject({ converged: true });
});

test("unfiled deals of the Master show as a lag", async () => {
  const { world, masterLogin: master } = await aPair(1_000_00n);
  const { dealAt } = getAccount(world.platform.ledger, master).log.findLast(({ dealId }) => dealId > 0n)!;
  trader(world, master).result(0n, { at: new Date(dealAt!.getTime() + 1_500) });
  // No balance differs: only the log position shows the unfiled deal.
  const proof = await proofOf(world, master);
  expect(amountsOf(proof.total).at(-1)).toBe(0n);
  expect(proof).toMatchObject({ lagMs: 1_500n, converged: false });
});

test("external funds on the Master or an Investor are quarantined, and the pool has not converged", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(1_000_00n);
  enter(world.platform.ledger, master, { kind: MovementKind.EXTERNAL, amount: 7_00n });
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.EXTERNAL, amount: -2_00n });
  await settle(world);
  const proof = await proofOf(world, master);
  expect(amountsOf(proof.master)).toEqual([1_007_00n, 1_007_00n, 0n, 7_00n, 0n]);
  expect(amountsOf(proof.investors[0])).toEqual([998_00n, 998_00n, 0n, -2_00n, 0n]);
  expect(proof.converged).toBe(false);
});

test("two differences that cancel out in the total are still reported", async () => {
  const { world, masterLogin: master, id } = await aPair(1_000_00n);
  const other = await subscribed(world, master, 1_000_00n);
  const { pool } = world.deps;
  await pool.query(`update holding set pooled_minor = pooled_minor + 5 where subscription_id = ${id}`);
  await pool.query(`update holding set pooled_minor = pooled_minor - 5 where subscription_id = ${other.id}`);
  const proof = await proofOf(world, master);
  expect(amountsOf(proof.total).at(-1)).toBe(0n);
  expect(proof.investors.map((each) => amountsOf(each).at(-1))).toEqual([-5n, 5n]);
  expect(proof.converged).toBe(false);
});

test("Investors come page by page, and every page has the sums over all Investors", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  for (const capital of [1_00n, 2_00n, 3_00n]) await subscribed(world, master, capital);
  const first = await proofOf(world, master, { limit: 2 });
  expect(first.investors.map(({ ledgerBalance }) => ledgerBalance?.minorUnits)).toEqual([1_00n, 2_00n]);
  expect(first).toMatchObject({ hasMore: true, investorsCount: 3n, converged: true });
  const afterSubscriptionId = first.investors.at(-1)!.subscriptionId;
  const rest = await proofOf(world, master, { limit: 2, afterSubscriptionId });
  expect(rest.investors.map(({ ledgerBalance }) => ledgerBalance?.minorUnits)).toEqual([3_00n]);
  expect(rest).toMatchObject({ hasMore: false, investorsCount: 3n });
  expect(rest.total).toEqual(first.total);
});

test("an unknown Master, an invalid page and an unavailable platform are refused", async () => {
  const world = await aWorld();
  await expect(proofOf(world, "4040404")).rejects.toMatchObject({ code: "master_not_found" });
  const master = aMaster(world, 0n);
  await subscribed(world, master, 1_00n);
  await expect(proofOf(world, master, { limit: 0, afterSubscriptionId: -1n })).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "after_subscription_id" }, { field: "limit" }],
  });
  world.platform.state.isDown = true;
  await expect(proofOf(world, master)).rejects.toMatchObject({ code: "platform_unavailable", outcome: "not_executed" });
});

test("a pool has not converged while the units of a fee are still to be redeemed", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(1_000_00n);
  await subscribed(world, master, 1_000_00n);
  const { open, closeAll } = trader(world, master);
  open();
  await settle(world);
  const closedThrough = (await proofOf(world, master)).weeksClosedThrough;
  expect(closedThrough).toBeInstanceOf(Date);

  // Marks cannot be taken: the fee leaves the pool at once, and its units follow.
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.FEE_DEBIT, amount: -75_00n, key: "fee:payment:1" });
  await deliver(world);
  await world.deps.pool.query("update master_pool set mark_next_at = 'infinity'");
  await settle(world);
  expect(await proofOf(world, master)).toMatchObject({ converged: false, unredeemed: moneyToProto(usd(75_00n)) });
  await world.deps.pool.query("update master_pool set mark_next_at = '-infinity'");
  await settle(world);
  expect(await proofOf(world, master)).toMatchObject({ converged: true, unredeemed: moneyToProto(usd(0n)) });

  closeAll();
  await settle(world);
  await deposit(world, investorLogin, 1_00n);
  await settle(world);
  expect(await proofOf(world, master)).toMatchObject({ converged: true, weeksClosedThrough: closedThrough });
});
