import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { externalFundsMaster } from "../checks/external-funds.ts";
import { expectBooksToReconcile } from "./books.ts";
import { cents, inBucket } from "./ledger.ts";
import { decide, reviewsOf, reviewWithReason } from "./reviews.ts";
import { settle, subscribed, settleAndReconcile } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, aWorld, type World } from "./world.ts";

const [DAILY, MONTHLY, INSTANT] = [10, 11, 18];

async function aPool(world: World) {
  const masterLogin = aMaster(world, 0n);
  await subscribed(world, masterLogin, 1_000_00n);
  return { masterLogin, master: trader(world, masterLogin) };
}

/** Own capital that is shown as the Master's, what is under review, and whether the books and the platform agree. */
async function proofOf(world: World, masterLogin: string) {
  const request = { masterLogin, afterSubscriptionId: 0n, limit: 10 };
  const { master, converged } = await world.service.getProof(request, aCall());
  return [cents(master?.ownCapital), cents(master?.quarantined), converged];
}

test("commissions of an agent are own capital of the Master, without a review, and share in later results", async () => {
  const world = await aWorld();
  const { masterLogin, master } = await aPool(world);
  for (const action of [DAILY, MONTHLY, INSTANT]) master.other(action, 500_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_000_00n]);
  expect(await proofOf(world, masterLogin)).toEqual([1_500_00n, 0n, true]);
  master.result(250_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_100_00n]);
  expect(await proofOf(world, masterLogin)).toEqual([1_650_00n, 0n, true]);
  expect(await reviewsOf(world)).toEqual([]);
  const { findings } = await externalFundsMaster(world.deps).run({ cursor: "", pendingBreaks: [] });
  expect(findings).toEqual([]);
});

test("what a dealer has moved stays under review, before and after a commission, and only that is decided about", async () => {
  const world = await aWorld();
  const { masterLogin, master } = await aPool(world);
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: -40_00n });
  await settle(world);
  master.other(INSTANT, 500_00n);
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "allocate");
  await settle(world);
  master.other(INSTANT, 100_00n);
  await settle(world);
  const [own] = await proofOf(world, masterLogin);
  const [pooled = 0n] = await inBucket(world, masterLogin, "pooled");
  expect(pooled + (own as bigint)).toBe(1_560_00n);
  expect(await reviewsOf(world)).toEqual([]);
  await expectBooksToReconcile(world);
});

test("where the broker books them for the pool, they are results", async () => {
  const world = await aWorld({ agentCommission: "result" });
  const { masterLogin, master } = await aPool(world);
  master.other(INSTANT, 500_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_500_00n]);
  expect(await reviewsOf(world)).toEqual([]);
});
