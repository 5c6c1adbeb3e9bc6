import { expect, test } from "vitest";
import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { type DecideReviewResponse, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { recordNow } from "../protocol/record-now.ts";
import { lockAccount } from "../store/accounts.ts";
import { listLegsByKey } from "../store/legs.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit, commentOf } from "../testing/requests.ts";
import { decideBoth, openReviews, resumeBoth, reviewOf, vote } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, aProcess, aProcessWith } from "../testing/world.ts";

const NOW = { at: new Date() };
const UNKNOWN_REFERENCE = commentOf("reversal", 77n);

/** A deposit whose answer was lost and whose deal, if it exists, has another comment. */
async function aDoubtfulDeposit(instance: Instance, known?: string) {
  const login = known ?? (await anAccount(instance));
  const request = aDeposit(login, 5_00n);
  instance.crashAt("after_permit");
  await expect(instance.service.transfer(request, aCall())).rejects.toThrow("after_permit");
  instance.crashAt(undefined);
  const [leg] = (await listLegsByKey(instance.deps.pool, [request.key])).get(request.key)!;
  await recordNow(instance.deps, leg!, { type: "lost", attempt: 1 }, NOW);
  await recordNow(instance.deps, leg!, { type: "does_not_fit", reason: "candidate_deal" }, NOW);
  return { login, request, leg: leg!, review: await reviewOf(instance, "candidate_deal") };
}

test.concurrent("a leg is applied once with the deal that two clients confirm, and its login is free", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const { login, request, review } = await aDoubtfulDeposit(instance);
  const { deal } = await world.control.balance(login, "5.00", "rewritten");
  const decision = { action: "confirm_applied", dealId: BigInt(deal) };

  expect(review).toMatchObject({ login, actions: ["confirm_applied", "confirm_not_applied"], state: ReviewState.OPEN });
  await vote(instance, review, "key-of-ann", decision);
  await expect(vote(instance, review, "key-of-ann", decision)).rejects.toMatchObject({
    code: "second_approver_required",
  });
  const other = { action: "confirm_not_applied" };
  await expect(vote(instance, review, "key-of-bob", other)).rejects.toMatchObject({ code: "decision_differs" });
  const both = await Promise.allSettled([
    vote(instance, review, "key-of-bob", decision),
    vote(instance, review, "key-of-cid", decision),
  ]);

  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await openReviews(instance)).toEqual([]);
  expect((await logOf(instance, login, 1)).map(summaryOf)).toEqual(["DEPOSIT 5.00"]);
  expect(await instance.service.transfer(request, aCall())).toMatchObject({
    state: TransferState.APPLIED,
    legs: [{ dealId: BigInt(deal) }],
  });
  expect((await instance.service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
});

test.concurrent("the review of a leg is found by the number that its transfer has, before and after it was decided as not applied", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  const { request, review } = await aDoubtfulDeposit(instance);
  await aDoubtfulDeposit(instance, await anAccount(instance));
  const { transfers } = await instance.service.readTransfers({ keys: [request.key] }, aCall());
  const numbers = transfers.flatMap(({ legs }) => legs.map(({ number }) => String(number)));
  const find = async (state: ReviewState) => {
    const about = { operationIds: numbers, dealIds: [] };
    const { items } = await instance.service.listReviews({ afterId: 0n, limit: 10, state, about }, aCall());
    return items.map(({ id, evidence }) => [id, (JSON.parse(evidence) as { attempts: unknown[] }).attempts.length]);
  };

  expect(numbers).toEqual([review.operationId]);
  expect(await find(ReviewState.UNSPECIFIED)).toEqual([[review.id, 1]]);
  await decideBoth(instance, review, { action: "confirm_not_applied" });
  expect(await find(ReviewState.UNSPECIFIED)).toEqual([]);
  expect(await find(ReviewState.DECIDED)).toEqual([[review.id, 1]]);
  expect(await instance.service.transfer(request, aCall())).toMatchObject({
    state: TransferState.REFUSED,
    refusalCode: "absent",
  });
});

test.concurrent("a deal that does not match the leg cannot be confirmed", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  const earlier = await instance.service.transfer(aDeposit(login, 5_00n), aCall());
  const { review } = await aDoubtfulDeposit(instance, login);
  const otherLogin = await anAccount(instance);
  const booked = await instance.service.transfer(aDeposit(otherLogin, 5_00n), aCall());
  const deals = {
    none: 0n,
    unseen: 999_999n,
    smaller: BigInt((await world.control.balance(login, "4.99")).deal),
    interest: BigInt((await world.control.book(login, 12, "5.00")).deal),
    otherLogin: booked.legs[0]!.dealId,
    booked: earlier.legs[0]!.dealId,
  };

  for (const dealId of Object.values(deals)) {
    await expect(vote(instance, review, "key-of-ann", { action: "confirm_applied", dealId })).rejects.toMatchObject({
      code: "action_not_possible",
      outcome: "not_executed",
    });
  }
  const withDealId = { action: "confirm_not_applied", dealId: 1n };
  await expect(vote(instance, review, "key-of-ann", withDealId)).rejects.toMatchObject({ code: "action_not_possible" });
  expect(await reviewOf(instance, "candidate_deal")).toMatchObject({ state: ReviewState.OPEN });
});

test.concurrent("an unmatched deal is reversed once, also when the process crashes after the decision", async (context) => {
  const world = await aWorld(context);
  const reading = await world.start();
  const login = await anAccount(reading);
  await world.control.balance(login, "8.00", UNKNOWN_REFERENCE);
  const review = await reviewOf(reading, "unknown_reference");
  expect(review).toMatchObject({ actions: ["reverse", "acknowledge"], amount: { minorUnits: 8_00n } });
  expect(UNKNOWN_REFERENCE.startsWith(review.reference)).toBe(true);
  await reading[Symbol.asyncDispose]();
  const crashing = await world.start({ hasJobs: false });
  await decideBoth(crashing, review, { action: "reverse" });
  await resumeBoth(crashing);
  await crashing[Symbol.asyncDispose]();

  const next = await world.start();

  const entries = await logOf(next, login, 3);
  expect(entries.map(summaryOf)).toEqual(["EXTERNAL 8.00", "AMENDMENT 0.00", "REVERSAL -8.00"]);
  expect(entries[2]!.key).toBe(`review:${review.id}:reverse`);
  await eventually(
    () =>
      one<{ is_done: boolean }>(
        next.deps.pool,
        sql`select done_at is not null as is_done from review_case where id = ${review.id}`,
      ),
    ({ is_done: isDone }) => isDone,
  );
  expect((await world.control.deals(login)).map(({ profit }) => profit)).toEqual(["8.00", "-8.00"]);
  expect(await world.control.account(login)).toMatchObject({ balance: "0.00" });
  await expect(vote(next, review, "key-of-cid", { action: "reverse" })).rejects.toMatchObject({
    code: "review_decided",
  });
});

test.concurrent("a repeated vote for a reversal is answered the same and requests no second reversal", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  await world.control.balance(login, "8.00", UNKNOWN_REFERENCE);
  const { id: reviewId } = await reviewOf(instance, "unknown_reference");
  const request = { reviewId, action: "reverse", dealId: 0n, note: "checked with the dealers", keyId: "KeyOfOneTest" };
  const [proposal, confirmation] = [aCall(), aCall()];
  const proposed = await instance.service.decideReview({ ...request, actor: "key-of-ann" }, proposal);
  const decided = await instance.service.decideReview({ ...request, actor: "key-of-bob" }, confirmation);
  await resumeBoth(instance);
  expect((await logOf(instance, login, 3)).map(summaryOf)).toContain("REVERSAL -8.00");

  const again = [
    await instance.service.decideReview({ ...request, actor: "key-of-ann" }, proposal),
    await instance.service.decideReview({ ...request, actor: "key-of-bob" }, confirmation),
  ];

  // The evidence shows the current records, which have changed with the reversal.
  const answered = ({ review }: DecideReviewResponse) => ({ ...review, evidence: "" });
  expect(again.map(answered)).toEqual([proposed, decided].map(answered));
  expect((await world.control.deals(login)).map(({ profit }) => profit)).toEqual(["8.00", "-8.00"]);
});

test.concurrent("a reversal that the platform refuses opens a new review, which may request it again", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  await world.control.balance(login, "8.00", UNKNOWN_REFERENCE);
  const review = await reviewOf(instance, "unknown_reference");
  await world.control.balance(login, "-3.00");
  await decideBoth(instance, review, { action: "reverse" });
  await resumeBoth(instance);

  const refusedReversal = await reviewOf(instance, "reversal_refused");
  expect(refusedReversal).toMatchObject({ login, amount: { minorUnits: -8_00n }, actions: ["reverse", "acknowledge"] });
  await world.control.balance(login, "3.00");
  await decideBoth(instance, refusedReversal, { action: "reverse" });

  await eventually(
    () => world.control.account(login),
    ({ balance }) => balance === "0.00",
  );
  const unfinished = await eventually(
    () => many(instance.deps.pool, sql`select id from review_case where state = 'DECIDED' and done_at is null`),
    (rows) => rows.length === 0,
  );
  expect(unfinished).toEqual([]);
});

test.concurrent("two reviews of one deal reverse it once", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  await world.control.balance(login, "8.00", UNKNOWN_REFERENCE);
  const review = await reviewOf(instance, "unknown_reference");
  await execute(
    instance.deps.pool,
    sql`insert into review_case (subject, reason, login, deal_id, evidence, actions, state, opened_at)
        select 'finding:0', 'unmatched_deal', login, deal_id, evidence, actions, 'OPEN', opened_at from review_case
        where id = ${review.id}`,
  );
  const again = await reviewOf(instance, "unmatched_deal");
  await vote(instance, again, "key-of-ann", { action: "reverse" });
  await decideBoth(instance, review, { action: "reverse" });

  await expect(vote(instance, again, "key-of-bob", { action: "reverse" })).rejects.toMatchObject({
    code: "action_not_possible",
  });
  await vote(instance, again, "key-of-ann", { action: "withdraw_proposal" });
  await decideBoth(instance, again, { action: "acknowledge" });
  await resumeBoth(instance);

  await logOf(instance, login, 3);
  expect((await world.control.deals(login)).map(({ profit }) => profit)).toEqual(["8.00", "-8.00"]);
});

test.concurrent("a vote on an account whose row is locked is not recorded and may be repeated", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  const { login, review } = await aDoubtfulDeposit(instance);
  const decision = { action: "confirm_not_applied" };

  await inTransaction(instance.deps.pool, async (tx) => {
    await lockAccount(tx, login);
    await expect(vote(instance, review, "key-of-ann", decision)).rejects.toMatchObject({
      code: "busy",
      outcome: "not_executed",
    });
  });

  expect(await reviewOf(instance, "candidate_deal")).toMatchObject({ state: ReviewState.OPEN });
  expect(await vote(instance, review, "key-of-ann", decision)).toMatchObject({ state: ReviewState.PROPOSED });
});

test.concurrent("a review shows attempts, answers, scans, the log and the possible actions", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  const { leg } = await aDoubtfulDeposit(instance);
  await execute(
    instance.deps.pool,
    sql`insert into scan (leg_number, attempt, started_at, verdict, tickets)
        values (${leg.number}, 1, clock_timestamp(), 'candidates', array[55]::bigint[])`,
  );

  const review = await reviewOf(instance, "candidate_deal");

  expect(review.operationId).toBe(String(leg.number));
  expect(JSON.parse(review.evidence)).toMatchObject({
    amount_minor: "500",
    came_from: "UNKNOWN",
    log_before_minor: "0",
    log_now_minor: "0",
    attempts: [{ attempt: 1, reference: review.reference, state: "UNKNOWN", answer: null }],
    scans: [{ attempt: 1, verdict: "candidates", tickets: ["55"] }],
  });
});
