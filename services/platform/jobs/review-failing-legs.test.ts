import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, feeLegs } from "../testing/requests.ts";
import { decideBoth, openReviews, reviewOf } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type World } from "../testing/world.ts";
import { reviewFailingLegs } from "./review-failing-legs.ts";
import { transferThatIs } from "../testing/recorded-transfer.ts";

/** A fee whose debit was applied and whose credit has failed twice; its next attempt waits for ten seconds. */
async function aFailingCredit(world: World, { failures = 2 } = {}) {
  const instance = await world.start({ settings: { reviewAfterMs: 60_000 } });
  const investor = await anAccount(instance);
  const payment = await anAccount(instance, "payment");
  await instance.service.transfer(aDeposit(investor, 100_00n), aCall());
  await world.control.fault({ command: "trade/balance", effect: "retcode:12", after: 1, times: failures });
  const legs = feeLegs(investor, payment, 30_00n);
  await instance.service.transfer(aTransfer("fee:1", legs, { enqueue: true }), aCall());
  const { pool } = instance.deps;
  await eventually(
    () => many(pool, sql`select number from leg where kind = 'fee_credit' and state = 'INTENT' and attempt = 2`),
    (rows) => rows.length === 1,
  );
  return { instance, pool, investor, payment, service: instance.service };
}

/** As if it had been requested an hour ago; the pause before its next attempt does not end during the test. */
async function age(pool: Awaited<ReturnType<typeof aFailingCredit>>["pool"]): Promise<void> {
  await execute(
    pool,
    sql`update leg set created_at = created_at - interval '1 hour', next_scan_at = clock_timestamp() + interval '1 hour'
        where kind = 'fee_credit'`,
  );
}

test.concurrent("operators see a leg whose attempts have failed for long, once, and can have it attempted at once", async (context) => {
  const { instance, pool, service } = await aFailingCredit(await aWorld(context));
  await reviewFailingLegs(instance.deps);
  expect(await openReviews(instance)).toEqual([]);

  await age(pool);
  await reviewFailingLegs(instance.deps);
  await reviewFailingLegs(instance.deps);

  const review = await reviewOf(instance, "still_not_applied");
  expect(await openReviews(instance)).toHaveLength(1);
  expect(review).toMatchObject({ actions: ["retry", "confirm_not_applied"] });
  expect(JSON.parse(review.evidence)).toMatchObject({ key: "fee:1", amount_minor: "3000", attempt: 2 });
  const decided = await decideBoth(instance, review, { action: "retry" });
  expect(decided.state).toBe(ReviewState.DECIDED);
  const ended = await transferThatIs(TransferState.APPLIED, service, "fee:1");
  expect(ended.legs).toHaveLength(2);
});

test.concurrent("after a decision to retry, operators are asked again only after the same time", async (context) => {
  const { instance, pool } = await aFailingCredit(await aWorld(context), { failures: 3 });
  await age(pool);
  await reviewFailingLegs(instance.deps);
  await decideBoth(instance, await reviewOf(instance, "still_not_applied"), { action: "retry" });
  await eventually(
    () => many(pool, sql`select number from leg where kind = 'fee_credit' and state = 'INTENT' and attempt = 3`),
    (rows) => rows.length === 1,
  );

  await reviewFailingLegs(instance.deps);

  expect((await openReviews(instance)).map(({ reason }) => reason)).not.toContain("still_not_applied");
});

test.concurrent("operators can end a leg that still fails: the debit of the fee is reversed", async (context) => {
  const world = await aWorld(context);
  const { instance, pool, investor, payment, service } = await aFailingCredit(world);
  await age(pool);
  await reviewFailingLegs(instance.deps);

  await decideBoth(instance, await reviewOf(instance, "still_not_applied"), { action: "confirm_not_applied" });

  const ended = await transferThatIs(TransferState.REFUSED, service, "fee:1");
  expect(ended.legs.map(({ state }) => state)).toEqual([
    TransferState.APPLIED,
    TransferState.REFUSED,
    TransferState.APPLIED,
  ]);
  expect(await world.control.account(investor)).toMatchObject({ balance: "100.00" });
  expect(await world.control.account(payment)).toMatchObject({ balance: "0.00" });
});

test.concurrent("the review of a leg that is applied meanwhile is closed, and it takes no vote before", async (context) => {
  const { instance, pool, service } = await aFailingCredit(await aWorld(context));
  await age(pool);
  await reviewFailingLegs(instance.deps);
  const review = await reviewOf(instance, "still_not_applied");
  await execute(pool, sql`update leg set next_scan_at = clock_timestamp() where kind = 'fee_credit'`);
  instance.deps.legsSignal.notify();
  await transferThatIs(TransferState.APPLIED, service, "fee:1");

  await expect(decideBoth(instance, review, { action: "retry" })).rejects.toMatchObject({
    code: "action_not_possible",
  });
  await reviewFailingLegs(instance.deps);

  expect(await openReviews(instance)).toEqual([]);
});
