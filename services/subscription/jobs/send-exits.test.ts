import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { settle, aPair, settleAndReconcile } from "../testing/settle.ts";
import { aCall, passTime } from "../testing/world.ts";
import { unassign } from "../commands/unassign.ts";

test("a refused exit is sent again under new keys, and the subscription stays PAUSED until one is applied", async () => {
  const { world, ...pair } = await aPair(500_00n);
  world.platform.rules.refuse = ({ key }) => (key.startsWith("exit:") ? "absent" : undefined);
  const { transferId } = await world.service.unassign(pair, aCall());
  for (let number = 1; number < 8; number += 1) {
    await settleAndReconcile(world);
    await passTime(world, 31_000);
  }
  const { subscription } = await world.service.findOpenSubscription(pair, aCall());
  expect(subscription).toMatchObject({ status: SubscriptionStatus.PAUSED, endedAt: undefined });
  const rows = await many<{ state: string; reason: string }>(
    world.deps.pool,
    sql`select state, reason from exit_transfer order by number`,
  );
  expect(rows.slice(0, -1)).toEqual(rows.slice(0, -1).map(() => ({ state: "REFUSED", reason: "refused: absent" })));
  expect(rows.length).toBeGreaterThan(6);

  world.platform.rules.refuse = () => undefined;
  await settle(world);
  const ended = await world.service.findOpenSubscription(pair, aCall());
  expect(ended.subscription).toBeUndefined();
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
  // The answer named the first transfer, which is recorded as refused.
  expect(world.platform.byKey.get(`exit:${pair.id}:1`)!.result.transferId).toBe(transferId);
  await expectBooksToReconcile(world);
});

test("the outcome of an exit that stays unknown is read again, and the exit is not sent again", async () => {
  const { world, ...pair } = await aPair(500_00n);
  world.platform.rules.delay = ({ key }) => key.startsWith("exit:");
  await world.service.unassign(pair, aCall());
  for (let runs = 0; runs < 5; runs += 1) {
    await settle(world);
    await passTime(world, 31_000);
  }
  expect([...world.platform.byKey.keys()].filter((key) => key.startsWith("exit:"))).toEqual([`exit:${pair.id}:1`]);
  expect(await many(world.deps.pool, sql`select state, reason from exit_transfer`)).toEqual([
    { state: "OPEN", reason: "pending" },
  ]);
  world.platform.rules.delay = () => false;
  executeWaiting(world.platform);
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
});

test("an unassign whose exit could not be sent has left the pool and returns outcome_unknown", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const call = aCall();
  const unreachable = {
    ...world.platform.client,
    transfer: async (): Promise<never> => {
      throw new Error("connection lost");
    },
  };
  await expect(unassign({ ...world.deps, platform: unreachable }, pair, call)).rejects.toMatchObject({
    code: "outcome_unknown",
    outcome: "unknown",
    operationId: call.commandId,
  });
  await passTime(world, 31_000);
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(0n);
  const { transferId } = world.platform.byKey.get(`exit:${pair.id}:1`)!.result;
  await expect(world.service.unassign(pair, call)).resolves.toMatchObject({ payoutEnqueued: true, transferId });
});
