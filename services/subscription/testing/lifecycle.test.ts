import { expect, test } from "vitest";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { expectBooksToReconcile } from "./books.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { settle } from "./settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld } from "./world.ts";

test("an Investor is assigned, mirrored and unassigned, and the Master keeps none of its money", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const investorLogin = anInvestor(world, 1_000_00n);

  const { subscription } = await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
  expect(subscription).toMatchObject({ status: SubscriptionStatus.ACTIVE, inPool: true, endedAt: undefined });
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(1_000_00n);
  await expectBooksToReconcile(world);

  const left = await world.service.unassign({ masterLogin, investorLogin }, aCall());
  expect(left).toMatchObject({
    subscription: { id: subscription!.id, status: SubscriptionStatus.PAUSED, inPool: false, endedAt: undefined },
    payoutEnqueued: true,
    amount: { minorUnits: -1_000_00n },
  });
  await expectBooksToReconcile(world);
  await settle(world);
  await expectBooksToReconcile(world);

  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(1_000_00n);
  const { items } = await world.service.listSubscriptions(
    { masterLogin, investorLogin: "", status: SubscriptionStatus.UNSPECIFIED, afterId: 0n, limit: 10 },
    aCall(),
  );
  expect(items).toMatchObject([{ status: SubscriptionStatus.CANCELLED, inPool: false, endedAt: expect.any(Date) }]);
});
