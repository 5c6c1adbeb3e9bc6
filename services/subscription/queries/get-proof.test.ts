import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { AccountProof, GetProofRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import { deposit } from "../testing/funding.ts";
import { enter, getAccount, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, aWorld, type World } from "../testing/world.ts";

const ask = (world: World, masterLogin: string, own: Partial<GetProofRequest> = {}) =>
  world.service.getProof({ masterLogin, afterSubscriptionId: 0n, limit: 1_000, ...own }, aCall());

/** Platform, ledger, in flight, quarantined, difference. */
function shortly(proof: AccountProof | undefined) {
  const { platformBalance, ledgerBalance, inFlight, quarantined, difference } = proof ?? {};
  return [platformBalance, ledgerBalance, inFlight, quarantined, difference].map((money) => money?.minorUnits);
}

test("a pool at rest has converged: each account shows what its places add up to", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const first = await subscribed(world, master, 1_000_00n);
  const second = await subscribed(world, master, 500_00n);
  trader(world, master).result(30_00n);
  await settle(world);

  const proof = await ask(world, master);

  expect(shortly(proof.master)).toEqual([1_530_00n, 1_530_00n, 0n, 0n, 0n]);
  expect(proof.investors.map(shortly)).toEqual([
    [1_020_00n, 1_020_00n, 0n, 0n, 0n],
    [510_00n, 510_00n, 0n, 0n, 0n],
  ]);
  expect(shortly(proof.total)).toEqual([3_060_00n, 3_060_00n, 0n, 0n, 0n]);
  expect(proof.investors.map(({ login, subscriptionId }) => [login, subscriptionId])).toEqual([
    [first.investorLogin, first.id],
    [second.investorLogin, second.id],
  ]);
  expect(proof.master).toMatchObject({ login: master, lastDealId: lastEntry(world.platform.ledger, master).dealId });
  expect(proof).toMatchObject({ converged: true, lagMs: 0n, hasMore: false, investorsCount: 2n });
});

test("capital on its way to the Master, and results on their way to Investors, are in flight and not converged", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, master, 1_000_00n);
  await deposit(world, investorLogin, 40_00n);
  // On the platform, and not filed yet.
  const unfiled = await ask(world, master);
  expect(shortly(unfiled.investors[0])).toEqual([1_040_00n, 1_000_00n, 0n, 0n, 40_00n]);
  expect(unfiled.converged).toBe(false);
  await deliver(world);
  const moving = await ask(world, master);
  expect(shortly(moving.master)).toEqual([1_000_00n, 1_000_00n, 40_00n, 0n, 0n]);
  expect(moving.converged).toBe(false);
  await settle(world);
  expect(await ask(world, master)).toMatchObject({ converged: true });
});

test("deals of the Master that are not filed show as a lag", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  await subscribed(world, master, 1_000_00n);
  const { dealAt } = getAccount(world.platform.ledger, master).log.findLast(({ dealId }) => dealId > 0n)!;
  trader(world, master).result(0n, { at: new Date(dealAt!.getTime() + 1_500) });
  // No balance differs: only the place in the log tells.
  const proof = await ask(world, master);
  expect(shortly(proof.total).at(-1)).toBe(0n);
  expect(proof).toMatchObject({ lagMs: 1_500n, converged: false });
});

test("external funds on the Master or on an Investor is quarantined, and nothing has converged until people decide", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, master, 1_000_00n);
  enter(world.platform.ledger, master, { kind: MovementKind.EXTERNAL, amount: 7_00n });
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.EXTERNAL, amount: -2_00n });
  await settle(world);
  const proof = await ask(world, master);
  expect(shortly(proof.master)).toEqual([1_007_00n, 1_007_00n, 0n, 7_00n, 0n]);
  expect(shortly(proof.investors[0])).toEqual([998_00n, 998_00n, 0n, -2_00n, 0n]);
  expect(proof.converged).toBe(false);
});

test("two differences that cancel out are two differences", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { id } = await subscribed(world, master, 1_000_00n);
  const other = await subscribed(world, master, 1_000_00n);
  const { pool } = world.deps;
  await pool.query(`update holding set pooled_minor = pooled_minor + 5 where subscription_id = ${id}`);
  await pool.query(`update holding set pooled_minor = pooled_minor - 5 where subscription_id = ${other.id}`);
  const proof = await ask(world, master);
  expect(shortly(proof.total).at(-1)).toBe(0n);
  expect(proof.investors.map((each) => shortly(each).at(-1))).toEqual([-5n, 5n]);
  expect(proof.converged).toBe(false);
});

test("Investors come page by page, and the sums are over everybody on every page", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  for (const capital of [1_00n, 2_00n, 3_00n]) await subscribed(world, master, capital);
  const first = await ask(world, master, { limit: 2 });
  expect(first.investors.map(({ ledgerBalance }) => ledgerBalance?.minorUnits)).toEqual([1_00n, 2_00n]);
  expect(first).toMatchObject({ hasMore: true, investorsCount: 3n, converged: true });
  const afterSubscriptionId = first.investors.at(-1)!.subscriptionId;
  const rest = await ask(world, master, { limit: 2, afterSubscriptionId });
  expect(rest.investors.map(({ ledgerBalance }) => ledgerBalance?.minorUnits)).toEqual([3_00n]);
  expect(rest).toMatchObject({ hasMore: false, investorsCount: 3n });
  expect(rest.total).toEqual(first.total);
});

test("what cannot be proven is refused: an unknown Master, a platform that does not answer, a page that is none", async () => {
  const world = await aWorld();
  await expect(ask(world, "4040404")).rejects.toMatchObject({ code: "master_not_found" });
  const master = aMaster(world, 0n);
  await subscribed(world, master, 1_00n);
  await expect(ask(world, master, { limit: 0, afterSubscriptionId: -1n })).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "after_subscription_id" }, { field: "limit" }],
  });
  world.platform.state.isDown = true;
  await expect(ask(world, master)).rejects.toMatchObject({ code: "platform_unavailable", outcome: "not_executed" });
});

test("a Master in which nobody has invested yet has nothing in flight", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  await deliver(world);
  expect(await ask(world, master)).toMatchObject({ converged: true, investors: [], investorsCount: 0n });
});
