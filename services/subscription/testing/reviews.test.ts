import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { lockCase, saveVote } from "#kernel/review/cases.ts";
import { applyVote } from "#kernel/review/review.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { openExternalReviews } from "../jobs/open-external-reviews.ts";
import { decideReview } from "../commands/decide-review.ts";
import { expectBooksToReconcile } from "./books.ts";
import { decide, reviewWithReason, reviewsOf, vote } from "./reviews.ts";
import { decideWithdrawal, deposit, holdForWithdrawal, release, withdraw } from "./funding.ts";
import { pausedAt } from "./paused.ts";
import { inBucket, holdingOf, poolLedger, balances } from "./ledger.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, subscribed, settleAndReconcile, aPair } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, passTime, type World } from "./world.ts";

/** A dealer moves money without the service. */
async function moveExternally(world: World, login: string, amount: bigint): Promise<void> {
  trader(world, login).external(amount);
  await settle(world);
}

async function stopByAmendment(world: World, login: string): Promise<void> {
  trader(world, login).amended();
  await settle(world);
}

const stoppedMasters = ({ deps }: World) =>
  many(deps.pool, sql`select from master_pool where stopped_reason is not null`);

test("a stopped Master opens a review with the state of its books at that moment", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await stopByAmendment(world, investorLogin);
  const review = await reviewWithReason(world, "stopped");
  expect(review).toMatchObject({
    login: masterLogin,
    dealId: 77n,
    amount: undefined,
    state: ReviewState.OPEN,
    actions: ["resume", "resume_with_difference"],
  });
  expect(JSON.parse(review.evidence)).toEqual({
    why: "deal_gone: deal 77",
    account: investorLogin,
    deal_id: "77",
    pool: {
      filed_log_number: "1",
      expected_master_balance: "500.00",
      of_investors: "500.00",
      own_capital: "0.00",
      imported: "0.00",
      unallocated: "0.00",
      holdings: "1",
    },
  });
});

test("two API keys resume a Master, and waiting deposits, results and postings continue", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await stopByAmendment(world, masterLogin);
  await deposit(world, investorLogin, 30_00n);
  trader(world, masterLogin).result(20_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "inbound")).toEqual([30_00n]);
  const review = await decide(world, await reviewWithReason(world, "stopped"), "resume");
  expect(review).toMatchObject({ state: ReviewState.DECIDED, decision: { proposedBy: "anna", confirmedBy: "boris" } });
  expect(await stoppedMasters(world)).toEqual([]);
  await passTime(world, 60_000);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([550_00n]);
  expect(balances(world, masterLogin, investorLogin)).toEqual([550_00n, 550_00n]);
  expect(await reviewsOf(world)).toEqual([]);
});

test("a Master whose account differs from its log is resumed only with resume_with_difference", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  await stopByAmendment(world, investorLogin);
  getAccount(world.platform.ledger, investorLogin).isComplete = false;
  const review = await reviewWithReason(world, "stopped");
  await expect(vote(world.deps, review, { action: "resume", actor: "anna" })).rejects.toMatchObject({
    code: "action_not_possible",
    message: `The open positions of ${investorLogin} differ from those in its log.`,
  });
  await decide(world, review, "resume_with_difference");
  expect(await stoppedMasters(world)).toEqual([]);
  trader(world, masterLogin).result(20_00n);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([520_00n]);
});

test.each(["resume", "resume_with_difference"])(
  "a Master whose account, or that of its Investor, is in another currency is stopped whatever is decided: %s",
  async (action) => {
    const { world, masterLogin, investorLogin } = await aPair(500_00n);
    await stopByAmendment(world, investorLogin);
    const review = await reviewWithReason(world, "stopped");
    const { foreign } = world.platform.ledger;
    for (const login of [masterLogin, investorLogin]) {
      foreign.add(login);
      await expect(vote(world.deps, review, { action, actor: "anna" })).rejects.toMatchObject({
        code: "action_not_possible",
        message: `Account ${login} is not in USD with two digits on the trading platform.`,
      });
      foreign.delete(login);
    }
    await vote(world.deps, review, { action, actor: "anna" });
    foreign.add(masterLogin);
    await expect(vote(world.deps, review, { action, actor: "boris" })).rejects.toMatchObject({
      code: "action_not_possible",
    });
    expect(await stoppedMasters(world)).toHaveLength(1);
    foreign.delete(masterLogin);
    await vote(world.deps, review, { action, actor: "boris" });
    expect(await stoppedMasters(world)).toEqual([]);
  },
);

test("while the platform service is unavailable no vote is recorded", async () => {
  const { world, masterLogin } = await aPair(500_00n);
  await stopByAmendment(world, masterLogin);
  const review = await reviewWithReason(world, "stopped");
  world.platform.state.isDown = true;
  await expect(vote(world.deps, review, { action: "resume", actor: "anna" })).rejects.toMatchObject({
    outcome: "not_executed",
  });
  world.platform.state.isDown = false;
  expect(await reviewWithReason(world, "stopped")).toMatchObject({ state: ReviewState.OPEN });
});

test("a deal older than the last strike is allocated when two API keys approve it by its id", async () => {
  const { world, masterLogin } = await aPair(500_00n);
  const master = trader(world, masterLogin);
  const { dealId } = master.result(10_00n, { dealId: 900_001n });
  master.result(5_00n);
  await settle(world);
  const review = await reviewWithReason(world, "stopped");
  expect(review.actions).toEqual(["resume", "resume_with_difference", "allocate_deal"]);
  const wrong = { action: "allocate_deal", actor: "anna", dealId: 1n };
  await expect(vote(world.deps, review, wrong)).rejects.toMatchObject({ code: "action_not_possible" });
  await vote(world.deps, review, { action: "resume", actor: "anna" });
  // The deal still waits, so a plain resume would only stop the Master again.
  await expect(vote(world.deps, review, { action: "resume", actor: "boris" })).rejects.toMatchObject({
    code: "action_not_possible",
  });
  await vote(world.deps, review, { action: "withdraw_proposal", actor: "boris" });
  await decide(world, review, "allocate_deal", review.dealId);
  await settleAndReconcile(world);
  expect(review.dealId).toBeLessThanOrEqual(dealId);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([515_00n]);
  expect(await stoppedMasters(world)).toEqual([]);
});

test.each(["mirror", "exit"] as const)(
  "a %s that moved a wrong amount is sent again after two approvals, and the moved amount stays external",
  async (kind) => {
    const { world, masterLogin, investorLogin } = await aPair(500_00n);
    const prefix = kind === "mirror" ? "subscription:mirror:" : "exit:";
    const wrongKeys: string[] = [];
    world.platform.rules.delay = ({ key }) => {
      if (!key.startsWith(prefix) || (wrongKeys.length > 0 && wrongKeys[0] !== key)) return false;
      wrongKeys[0] = key;
      return true;
    };
    if (kind === "mirror") await deposit(world, investorLogin, 30_00n);
    else await world.service.unassign({ masterLogin, investorLogin }, aCall());
    await settle(world);
    const wrong = {
      mirror: { kind: MovementKind.MIRROR, amount: 29_00n },
      exit: { kind: MovementKind.EXIT, amount: 1_00n },
    };
    enter(world.platform.ledger, masterLogin, { ...wrong[kind], key: wrongKeys[0] ?? "" });
    await settle(world);
    const review = await reviewWithReason(world, "stopped");
    expect(review.actions).toEqual(["transfer_again"]);
    await decide(world, review, "transfer_again");
    await passTime(world, 60_000);
    await settle(world);
    const { external } = await poolLedger(world, masterLogin);
    expect(external).toBe(wrong[kind].amount);
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(kind === "mirror" ? 559_00n : 1_00n);
    await expectBooksToReconcile(world);
  },
);

test("acknowledged external funds stay acknowledged while the Investor trades, until they double, change their sign or are moved by others", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  const reason = "external_funds_on_investor";
  const acknowledge = async () => await decide(world, await reviewWithReason(world, reason), "acknowledge");
  const trade = async (amount: bigint) => {
    trader(world, investorLogin).result(amount);
    await settle(world);
    return (await reviewsOf(world)).map((review) => review.amount?.minorUnits);
  };
  await moveExternally(world, investorLogin, 40_00n);
  await acknowledge();
  expect(await trade(40_00n)).toEqual([]);
  expect(await trade(1n)).toEqual([80_01n]);
  await acknowledge();
  expect(await trade(-80_00n)).toEqual([]);
  expect(await trade(-2n)).toEqual([-1n]);
  await acknowledge();
  await moveExternally(world, investorLogin, -1n);
  expect((await reviewsOf(world)).map((review) => review.amount?.minorUnits)).toEqual([-2n]);
});

test("a proposal that is made while a review is renewed for a trade holds", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  const { pool } = world.deps;
  await moveExternally(world, investorLogin, 40_00n);
  const { id } = await reviewWithReason(world, "external_funds_on_investor");
  trader(world, investorLogin).result(2_00n);
  await deliver(world);
  const { renewing } = await inTransaction(pool, async (tx) => {
    const reviewCase = (await lockCase(tx, id))!;
    const job = openExternalReviews(world.deps);
    await expect.poll(() => countLockWaiters(pool), { interval: 5 }).toBe(1);
    const vote = { action: "adopt", dealId: 0n, note: "checked", actor: "anna", keyId: "key of anna", at: new Date() };
    await saveVote(tx, { caseId: id, commandId: "" }, applyVote(reviewCase, reviewCase.actions, vote), vote);
    return { renewing: job };
  });
  await renewing;
  expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({ state: ReviewState.PROPOSED });
});

test("a proposal is void when the amount changes, and the review closes when the funds are gone", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  await moveExternally(world, investorLogin, 40_00n);
  const review = await reviewWithReason(world, "external_funds_on_investor");
  await vote(world.deps, review, { action: "adopt", actor: "anna" });
  await moveExternally(world, investorLogin, 2_00n);
  expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({
    id: review.id,
    state: ReviewState.OPEN,
    amount: { minorUnits: 42_00n },
  });
  await moveExternally(world, investorLogin, -42_00n);
  expect(await reviewsOf(world)).toEqual([]);
  await expect(vote(world.deps, review, { action: "adopt", actor: "anna" })).rejects.toMatchObject({
    code: "review_decided",
  });
});

test.each([40_00n, -40_00n])(
  "a proposal about %s cents holds while the Investor trades, and the decision is about what is there then",
  async (amount) => {
    const { world, masterLogin, investorLogin, id } = await aPair(500_00n);
    await moveExternally(world, investorLogin, amount);
    const review = await reviewWithReason(world, "external_funds_on_investor");
    await vote(world.deps, review, { action: "adopt", actor: "anna" });
    for (const profit of [300_00n, -400_00n, 96_00n]) {
      trader(world, investorLogin).result(profit);
      await settle(world);
    }
    expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({
      state: ReviewState.PROPOSED,
      amount: { minorUnits: amount },
    });
    trader(world, investorLogin).result(-1_00n);
    await deliver(world);
    const call = aCall();
    const request = {
      reviewId: review.id,
      action: "adopt",
      dealId: 0n,
      note: "checked",
      actor: "boris",
      keyId: "key of boris",
    };
    const decided = await decideReview(world.deps, request, call);
    expect(decided.review).toMatchObject({ state: ReviewState.DECIDED, amount: { minorUnits: amount - 5_00n } });
    expect(await decideReview(world.deps, request, call)).toEqual(decided);
    const noted = sql`select amount_minor as amount from state_change where kind = 'review' and state = 'decided'`;
    expect(await many(world.deps.pool, noted)).toEqual([{ amount: amount - 5_00n }]);
    await settle(world);
    const pooled = 500_00n + amount - 5_00n;
    expect(await holdingOf(world, masterLogin, id)).toMatchObject({ pooled, quarantined: 0n });
    expect(balanceOf(world.platform.ledger, masterLogin)).toBe(pooled);
    await expectBooksToReconcile(world);
  },
);

test.each<[string, (world: World, login: string) => unknown]>([
  ["a dealer moves money", (world, login) => trader(world, login).external(1n)],
  ["a dealer books a charge of the trader", (world, login) => trader(world, login).charge(-1n)],
])("a proposal about external funds is void when %s, and a decision that comes before is refused", async (_, move) => {
  const { world, investorLogin } = await aPair(500_00n);
  await moveExternally(world, investorLogin, 40_00n);
  const review = await reviewWithReason(world, "external_funds_on_investor");
  await vote(world.deps, review, { action: "adopt", actor: "anna" });
  move(world, investorLogin);
  await deliver(world);
  await expect(vote(world.deps, review, { action: "adopt", actor: "boris" })).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("The amount is now"),
  });
  await settle(world);
  expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({ state: ReviewState.OPEN });
  await decide(world, review, "adopt");
  await settleAndReconcile(world);
  expect(await reviewsOf(world)).toEqual([]);
});

test("a withdrawal that reads the Master while funds are adopted is refused until they are in the pool", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  await moveExternally(world, investorLogin, 40_00n);
  const review = await reviewWithReason(world, "external_funds_on_investor");
  await vote(world.deps, review, { action: "adopt", actor: "anna" });
  const first = await holdForWithdrawal(world, investorLogin, 5_000_00n);
  const { latch, deps } = pausedAt(world, "readAccount");
  const leaving = decideWithdrawal({ deps }, first);
  await latch.reached;
  await vote(world.deps, review, { action: "adopt", actor: "boris" });
  latch.open();
  await expect(leaving).rejects.toMatchObject({ code: "account_busy", outcome: "not_executed" });
  await release(world, first);
  await settle(world);
  expect(await withdraw(world, investorLogin, 5_000_00n, "next")).toBe(540_00n);
  await expectBooksToReconcile(world);
});

test("external funds of the Master raise negative shares to 0.00: to the cent, and without a result", async () => {
  const { world, masterLogin, investorLogin } = await aPair(100_00n);
  const other = await subscribed(world, masterLogin, 50_00n);
  trader(world, masterLogin).result(-180_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([-20_00n, -10_00n]);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([-20_00n, -10_00n]);
  await moveExternally(world, masterLogin, 29_99n);
  expect((await reviewWithReason(world, "external_funds_on_master")).actions).toEqual(["acknowledge", "allocate"]);
  await moveExternally(world, masterLogin, 5_00n);
  const review = await reviewWithReason(world, "external_funds_on_master");
  expect(review.actions).toEqual(["acknowledge", "allocate", "compensate_deficit"]);
  const allocations = sql`select number, subscription_id, amount_minor from allocation_row order by 1, 2`;
  const before = await many(world.deps.pool, allocations);
  await decide(world, review, "compensate_deficit");
  await passTime(world, 60_000);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n, 0n]);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([0n, 0n]);
  expect(await many(world.deps.pool, allocations)).toEqual(before);
  expect(await reviewWithReason(world, "external_funds_on_master")).toMatchObject({ amount: { minorUnits: 4_99n } });
  expect(await many(world.deps.pool, sql`select is_in_deficit as deficit from master_pool`)).toEqual([
    { deficit: false },
  ]);
  expect(balances(world, investorLogin, other.investorLogin)).toEqual([0n, 0n]);
  // They may deposit again, and share in later results beside the 4.99 that is left.
  await deposit(world, investorLogin, 10_00n);
  await settle(world);
  trader(world, masterLogin).result(3_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([12_00n, 0n]);
  const { external } = await poolLedger(world, masterLogin);
  expect(external).toBe(5_99n);
  await expectBooksToReconcile(world);
});

test("no Investor is compensated while the Master has open positions", async () => {
  const { world, masterLogin } = await aPair(100_00n);
  const master = trader(world, masterLogin);
  const open = master.open();
  master.result(-120_00n);
  await settle(world);
  await moveExternally(world, masterLogin, 20_00n);
  const review = await reviewWithReason(world, "external_funds_on_master");
  const compensate = { action: "compensate_deficit", actor: "anna" };
  await expect(vote(world.deps, review, compensate)).rejects.toMatchObject({
    code: "action_not_possible",
    message: expect.stringContaining("open positions"),
  });
  master.close(open);
  await settle(world);
  await decide(world, review, "compensate_deficit");
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([0n]);
  await expectBooksToReconcile(world);
});

test("external funds withdrawn from an Investor and returned leave every bucket as it was", async () => {
  const { world, masterLogin, investorLogin, id } = await aPair(500_00n);
  const { ledger } = world.platform;
  const before = await holdingOf(world, masterLogin, id);
  const { external, amended } = trader(world, investorLogin);
  amended("unmatched_deal", external(-40_00n).dealId);
  await settle(world);
  expect(await holdingOf(world, masterLogin, id)).toEqual({ ...before, quarantined: -40_00n });

  enter(ledger, investorLogin, {
    kind: MovementKind.REVERSAL,
    amount: 40_00n,
    key: "review:7:reverse",
    transferId: 9n,
  });
  await settle(world);
  await decide(world, await reviewWithReason(world, "stopped"), "resume");
  await settle(world);

  expect(await holdingOf(world, masterLogin, id)).toEqual(before);
  expect(balanceOf(ledger, masterLogin)).toBe(500_00n);
  expect(await reviewsOf(world)).toEqual([]);
  await expectBooksToReconcile(world);
});

test("a Master whose mirror deal was deleted is resumed after its log was corrected, the missing amount is external, and the Investor leaves", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const { ledger } = world.platform;
  await stopByAmendment(world, masterLogin);
  // The log has the mirror, and the balance on the trading platform lacks it.
  getAccount(ledger, masterLogin).isComplete = false;
  const review = await reviewWithReason(world, "stopped");
  await expect(vote(world.deps, review, { action: "resume", actor: "anna" })).rejects.toMatchObject({
    code: "action_not_possible",
  });
  const correction = { kind: MovementKind.CORRECTION, amount: -500_00n, reason: "deal_gone", dealId: 77n };
  enter(ledger, masterLogin, correction);
  getAccount(ledger, masterLogin).isComplete = true;
  await settle(world);
  await decide(world, review, "resume");
  expect(await reviewWithReason(world, "external_funds_on_master")).toMatchObject({
    amount: { minorUnits: -500_00n },
    actions: ["acknowledge", "allocate"],
  });
  await expectBooksToReconcile(world);

  await moveExternally(world, masterLogin, 500_00n);
  await world.service.unassign({ masterLogin, investorLogin }, aCall());
  await settle(world);

  expect(balances(world, masterLogin, investorLogin)).toEqual([0n, 500_00n]);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([]);
  expect(await reviewsOf(world)).toEqual([]);
  await expectBooksToReconcile(world);
});
