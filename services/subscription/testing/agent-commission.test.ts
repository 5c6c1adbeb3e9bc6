import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { externalFundsMaster } from "../checks/external-funds.ts";
import { expectBooksToReconcile } from "./books.ts";
import { inBucket, findingsOf, ownCapitalOf } from "./ledger.ts";
import { decide, reviewsOf, reviewWithReason } from "./reviews.ts";
import { settle, settleAndReconcile } from "./settle.ts";
import { aPool } from "./trading-pairs.ts";
import { aWorld } from "./world.ts";

const [DAILY, MONTHLY, INSTANT] = [10, 11, 18];

test("commissions of an agent are own capital of the Master, without a review, and share in later results", async () => {
  const { world, masterLogin, master } = await aPool(await aWorld(), 1_000_00n);
  for (const action of [DAILY, MONTHLY, INSTANT]) master.other(action, 500_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_000_00n]);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 1_500_00n, true]);
  master.result(250_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_100_00n]);
  expect(await ownCapitalOf(world, masterLogin)).toEqual([0n, 1_650_00n, true]);
  expect(await reviewsOf(world)).toEqual([]);
  expect(await findingsOf(externalFundsMaster(world.deps))).toEqual([]);
});

test("what a dealer has moved stays under review, before and after a commission, and only that is decided about", async () => {
  const { world, masterLogin, master } = await aPool(await aWorld(), 1_000_00n);
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: -40_00n });
  await settle(world);
  master.other(INSTANT, 500_00n);
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "allocate");
  await settle(world);
  master.other(INSTANT, 100_00n);
  await settle(world);
  const [, own = 0n] = await ownCapitalOf(world, masterLogin);
  const [pooled = 0n] = await inBucket(world, masterLogin, "pooled");
  expect(pooled + own).toBe(1_560_00n);
  expect(await reviewsOf(world)).toEqual([]);
  await expectBooksToReconcile(world);
});

test("where the broker books them for the pool, they are results", async () => {
  const { world, masterLogin, master } = await aPool(await aWorld({ agentCommission: "result" }), 1_000_00n);
  master.other(INSTANT, 500_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_500_00n]);
  expect(await reviewsOf(world)).toEqual([]);
});
