import { expect, test } from "vitest";
import { aPool } from "./trading-pairs.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { listReviewGroups } from "#kernel/review/list-reviews.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { externalFundsInvestor, externalFundsMaster } from "../checks/external-funds.ts";
import { openExternalReviews } from "../jobs/open-external-reviews.ts";
import { expectBooksToReconcile } from "./books.ts";
import { decideWithdrawal, deposit, holdForWithdrawal } from "./funding.ts";
import { holdingOf, inBucket, balances, findingsOf } from "./ledger.ts";
import { pausedAt } from "./paused.ts";
import { decide, reviewsOf, reviewWithReason, vote } from "./reviews.ts";
import { deliver, settle, subscribed, settleAndReconcile } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, aWorld, type World } from "./world.ts";
import { adoptCharges } from "../processes/review/external-funds.ts";

const CHARGE = 4;
const CORRECTION = 5;
const DAY = new Date("2026-01-31T22:00:00Z");

type Charge = { readonly action?: number; readonly comment?: string; readonly at?: Date };

/** The broker charges an account by itself. */
function charge(world: World, login: string, amount: bigint, over: Charge = {}): void {
  const deal = { action: CHARGE, comment: "Dormant fee", at: DAY, ...over };
  enter(world.platform.ledger, login, { kind: MovementKind.EXTERNAL, amount, ...deal });
}

const adopting = async (adoptCharges: string, ...balances: readonly bigint[]) =>
  aPool(await aWorld({ adoptCharges }), ...balances);

const groupsOf = async ({ deps }: World) => (await listReviewGroups(deps.pool, { afterId: 0n, limit: 100 })).items;

test("a dormant fee that a rule names is adopted without a review: it leaves the Master once, and later results follow the shares", async () => {
  const { world, masterLogin, logins } = await adopting("2, Dormant fee", 1_000_00n, 1_000_00n);
  const [charged = ""] = logins;
  charge(world, charged, -15_00n);
  await settle(world);
  await openExternalReviews(world.deps);
  await settle(world);
  expect(await reviewsOf(world)).toEqual([]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(1_985_00n);
  trader(world, masterLogin).result(200_00n);
  await settleAndReconcile(world);
  expect(balances(world, ...logins)).toEqual([1_084_24n, 1_100_76n]);
});

test("a deal that no rule names is not adopted", async () => {
  const { world, logins } = await adopting("4,Dormant", 1_000_00n);
  charge(world, logins[0] ?? "", -15_00n, { action: CORRECTION, comment: "dormant fee" });
  await settle(world);
  expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({
    amount: { minorUnits: -15_00n },
  });
});

test("a charge by rule beside other external funds leaves their review, its amount and its proposal as they are", async () => {
  const { world, masterLogin, logins, pairs } = await adopting("4", 1_000_00n);
  const [login = ""] = logins;
  charge(world, login, 40_00n, { action: CORRECTION, comment: "gift" });
  await settle(world);
  const review = await reviewWithReason(world, "external_funds_on_investor");
  await vote(world.deps, review, { action: "adopt", actor: "anna" });
  charge(world, login, -15_00n);
  await settle(world);
  expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({
    state: ReviewState.PROPOSED,
    amount: { minorUnits: 40_00n },
  });
  expect(await holdingOf(world, masterLogin, pairs[0]!.id)).toMatchObject({ pooled: 985_00n, quarantined: 40_00n });
  await vote(world.deps, review, { action: "adopt", actor: "boris" });
  await settleAndReconcile(world);
  expect(await holdingOf(world, masterLogin, pairs[0]!.id)).toMatchObject({ pooled: 1_025_00n, quarantined: 0n });
});

test("a charge that is adopted while a withdrawal reads the Master counts in its decision", async () => {
  const { world, masterLogin, logins } = await adopting("4", 1_000_00n, 1_000_00n);
  const [login = ""] = logins;
  charge(world, login, -15_00n);
  await deliver(world);
  const withdrawal = await holdForWithdrawal(world, login, 5_000_00n);
  const { latch, deps } = pausedAt(world, "readAccount");
  const deciding = decideWithdrawal({ deps }, withdrawal);
  await latch.reached;
  await openExternalReviews(world.deps);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([985_00n, 1_000_00n]);
  latch.open();
  await expect(deciding).resolves.toMatchObject({ effective: 985_00n });
  await expectBooksToReconcile(world);
});

test("a charge by rule on its way while the Investor leaves, or that comes after it, is the Investor's own", async () => {
  const { world, masterLogin, logins } = await adopting("4", 1_000_00n);
  const [login = ""] = logins;
  charge(world, login, -15_00n);
  await deliver(world);
  await world.service.unassign({ masterLogin, investorLogin: login }, aCall());
  await settle(world);
  charge(world, login, -15_00n);
  await settleAndReconcile(world);
  expect(balances(world, masterLogin, login)).toEqual([0n, 970_00n]);
  expect(await reviewsOf(world)).toEqual([]);
});

test("a charge by rule that is above the share waits for a deposit on its way, otherwise operators decide", async () => {
  const { world, masterLogin, logins, pairs } = await adopting("4", 20_00n);
  const [login = ""] = logins;
  trader(world, masterLogin).result(-10_00n);
  await settle(world);
  await deposit(world, login, 10_00n);
  charge(world, login, -15_00n);
  await deliver(world);
  await openExternalReviews(world.deps);
  expect(await reviewsOf(world)).toEqual([]);
  await settle(world);
  expect(await holdingOf(world, masterLogin, pairs[0]!.id)).toMatchObject({ pooled: 5_00n, quarantined: 0n });

  charge(world, login, -15_00n);
  await settle(world);
  const review = await reviewWithReason(world, "external_funds_on_investor");
  expect(review).toMatchObject({ amount: { minorUnits: -15_00n }, cause: { action: CHARGE, day: "2026-01-31" } });
  await deposit(world, login, 100_00n);
  await settle(world);
  await decide(world, review, "adopt");
  await settleAndReconcile(world);
  expect(await holdingOf(world, masterLogin, pairs[0]!.id)).toMatchObject({ pooled: 90_00n, quarantined: 0n });
});

test("a charge on an Investor with 0.00 is a ticket about the Investor, which a deposit or an acknowledgement ends", async () => {
  for (const isCovered of [true, false]) {
    const world = await aWorld({ adoptCharges: "4" });
    const masterLogin = aMaster(world, 0n);
    const { investorLogin: login, id } = await subscribed(world, masterLogin, 0n);
    charge(world, login, -15_00n);
    await settle(world);
    const review = await reviewWithReason(world, "external_funds_on_investor");
    const breaks = async () => (await findingsOf(externalFundsInvestor(world.deps))).map(({ message }) => message);
    expect(await breaks()).toEqual([
      `15.00 USD was taken from Investor ${login} without this service, which leaves the account at -15.00 USD. Review required: adopt it after a deposit has covered it, or acknowledge it.`,
    ]);
    const onMaster = await externalFundsMaster(world.deps).run({ cursor: "", pendingBreaks: [] });
    expect(onMaster.findings).toEqual([]);
    await expect(vote(world.deps, review, { action: "adopt", actor: "anna" })).rejects.toMatchObject({
      code: "action_not_possible",
      message:
        "The charge or withdrawal of 15.00 USD exceeds the Investor's share of the pool, 0.00 USD. Adopt it when a deposit has covered it, or acknowledge it.",
    });
    expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({ state: ReviewState.OPEN });

    if (isCovered) {
      await deposit(world, login, 100_00n);
      await settle(world);
    }
    await decide(world, review, isCovered ? "adopt" : "acknowledge");
    await settle(world);
    expect([await breaks(), await reviewsOf(world)]).toEqual([[], []]);
    const expected = isCovered ? { pooled: 85_00n, quarantined: 0n } : { pooled: 0n, quarantined: -15_00n };
    expect(await holdingOf(world, masterLogin, id)).toMatchObject(expected);
    await expectBooksToReconcile(world);
  }
});

test("what comes after an adoption is not of its cause, also when it is the same amount", async () => {
  const { world, logins } = await adopting("", 1_000_00n);
  const [login = ""] = logins;
  charge(world, login, -15_00n);
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_investor"), "adopt");
  trader(world, login).result(-15_00n);
  await settle(world);
  expect(await reviewWithReason(world, "external_funds_on_investor")).toMatchObject({ cause: undefined });
});

test("two replicas that adopt a charge by rule at once adopt it once, also after a crash before", async () => {
  const { world, masterLogin, logins } = await adopting("4", 1_000_00n);
  charge(world, logins[0] ?? "", -15_00n);
  await deliver(world);
  const { pool } = world.deps;
  await asOwner(pool, "subscription", "alter table flow add constraint crash check (amount_minor > 0) not valid");
  await expect(adoptCharges(world.deps)).rejects.toThrow("crash");
  await asOwner(pool, "subscription", "alter table flow drop constraint crash");
  await Promise.all([adoptCharges(world.deps), adoptCharges(world.deps), deliver(world)]);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([985_00n]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(985_00n);
});

test("the reviews of one action, comment and day are a group, and others are not of it", async () => {
  const { world, logins } = await adopting("", ...Array.from({ length: 6 }, () => 1_000_00n));
  const [first = "", second = "", third = "", fourth = "", fifth = "", sixth = ""] = logins;
  for (const login of [first, second, third]) charge(world, login, -15_00n);
  charge(world, second, -15_00n);
  charge(world, third, -1_00n, { action: CORRECTION });
  charge(world, fourth, -15_00n, { comment: "Dormant fee 2" });
  charge(world, fifth, -15_00n, { at: new Date("2026-02-01T00:00:00Z") });
  trader(world, sixth).result(3_00n);
  charge(world, sixth, -15_00n);
  await settle(world);
  const groups = await groupsOf(world);
  const cents = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });
  expect(groups).toHaveLength(5);
  expect(groups[0]).toMatchObject({
    reason: "external_funds_on_investor",
    cause: { action: CHARGE, comment: "Dormant fee", day: "2026-01-31" },
    open: 2,
    proposed: 0,
    amount: cents(-45_00n),
    lowest: cents(-30_00n),
    highest: cents(-15_00n),
  });
  const amounts = async (group: string | undefined) => {
    const { items } = await world.service.listReviews({ afterId: 0n, limit: 100, state: 0, group }, aCall());
    return items.map(({ amount }) => amount?.minorUnits);
  };
  expect(await amounts(groups[0]?.group)).toEqual([-15_00n, -30_00n]);
  expect((await Promise.all(groups.slice(1).map(({ group }) => amounts(group)))).flat().toSorted()).toEqual(
    [-12_00n, -15_00n, -15_00n, -16_00n].toSorted(),
  );
});

/** Masters with an Investor of 1,000.00 each, and own capital that operators have acknowledged. */
async function masters(...capital: readonly bigint[]) {
  const world = await aWorld();
  const logins = [];
  for (const own of capital) {
    const login = aMaster(world, 0n, own);
    await subscribed(world, login, 1_000_00n);
    if (own !== 0n) await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
    logins.push(login);
  }
  return { world, logins: logins as [string, string, string] };
}

/** The same vote on reviews of a group; what became of each. */
async function voteOn(world: World, group: string, action: string, actor: string) {
  const request = { afterId: 0n, limit: 100, state: ReviewState.UNSPECIFIED, group };
  const reviewIds = (await world.service.listReviews(request, aCall())).items.map(({ id }) => id);
  return async () => {
    const wanted = { group, reviewIds, action, note: "checked", actor, keyId: `key of ${actor}` };
    const { votes } = await world.service.decideReviewGroup(wanted, aCall());
    return votes.map(({ review, code }) => review?.state ?? code);
  };
}

test("the same charge on three Masters is one group, and one decision by two operators ends all of them", async () => {
  const { world, logins } = await masters(0n, 0n, 500_00n);
  for (const login of logins) charge(world, login, -15_00n);
  await settle(world);
  const [group, ...others] = await groupsOf(world);
  expect(others).toEqual([]);
  expect(group).toMatchObject({ reason: "external_funds_on_master", open: 3, amount: { minorUnits: -45_00n } });
  for (const [actor, state] of [
    ["anna", ReviewState.PROPOSED],
    ["boris", ReviewState.DECIDED],
  ] as const) {
    const send = await voteOn(world, group?.group ?? "", "allocate", actor);
    expect(await send()).toEqual([state, state, state]);
  }
  await settleAndReconcile(world);
  expect(await reviewsOf(world)).toEqual([]);
  expect((await Promise.all(logins.map((login) => inBucket(world, login, "pooled")))).flat()).toEqual([
    985_00n,
    985_00n,
    990_00n,
  ]);
});

test("a Master with two causes is in no group, and one on which more was moved since the proposal is left out", async () => {
  const { world, logins } = await masters(500_00n, 500_00n, 500_00n);
  const [first, second, third] = logins;
  for (const login of logins) charge(world, login, -15_00n);
  charge(world, third, -1_00n, { comment: "other" });
  await settle(world);
  const [group, alone] = await groupsOf(world);
  expect(group).toMatchObject({ open: 2, amount: { minorUnits: -30_00n } });
  expect(alone).toMatchObject({ open: 1, cause: undefined, login: third, amount: { minorUnits: -16_00n } });
  const propose = await voteOn(world, group?.group ?? "", "acknowledge", "anna");
  expect(await propose()).toEqual([ReviewState.PROPOSED, ReviewState.PROPOSED]);
  const confirm = await voteOn(world, group?.group ?? "", "acknowledge", "boris");
  charge(world, second, -15_00n);
  await settle(world);
  expect(await confirm()).toEqual([ReviewState.DECIDED, ReviewState.PROPOSED]);
  await settle(world);
  const left = (await reviewsOf(world)).filter(({ login }) => login !== third);
  expect(left).toMatchObject([
    { login: second, state: ReviewState.PROPOSED, amount: { minorUnits: -30_00n }, cause: { comment: "Dormant fee" } },
  ]);
  // What comes after a decision has a cause of its own.
  charge(world, first, -15_00n, { at: new Date("2026-02-28T12:00:00Z") });
  await settle(world);
  const again = (await reviewsOf(world)).find(({ login }) => login === first);
  expect(again).toMatchObject({ amount: { minorUnits: -15_00n }, cause: { day: "2026-02-28" } });
  await expectBooksToReconcile(world);
});

test("a charge on a Master that was reversed leaves its group, and a deal that a dealer has edited is in none", async () => {
  const { world, logins } = await masters(0n, 0n, 0n);
  const [first, second, third] = logins;
  for (const login of [first, second]) charge(world, login, -15_00n);
  enter(world.platform.ledger, third, {
    kind: MovementKind.CORRECTION,
    amount: -15_00n,
    reason: "deal_changed",
    at: DAY,
  });
  await settle(world);
  expect(await groupsOf(world)).toMatchObject([
    { open: 2, cause: { comment: "Dormant fee" } },
    { open: 1, login: third, cause: undefined },
  ]);
  const reversal = { kind: MovementKind.REVERSAL, amount: 15_00n, key: "review:7:reverse" };
  enter(world.platform.ledger, second, reversal);
  await settle(world);
  const [group] = await groupsOf(world);
  expect(group).toMatchObject({ open: 1, login: first });
  // The next charge of the same cause is of the group again.
  charge(world, second, -15_00n);
  await settle(world);
  expect((await groupsOf(world))[0]).toMatchObject({ group: group?.group, open: 2, amount: { minorUnits: -30_00n } });
  enter(world.platform.ledger, second, { ...reversal, amount: 5_00n, key: "review:8:reverse" });
  await settleAndReconcile(world);
  expect((await reviewsOf(world)).find(({ login }) => login === second)).toMatchObject({
    amount: { minorUnits: -10_00n },
    cause: undefined,
  });
});

test("the reviews of more accounts than are read at once are opened and closed, each once", async () => {
  const { world, pairs } = await adopting("", 1_000_00n);
  const [{ id }] = pairs as [(typeof pairs)[number]];
  const { pool } = world.deps;
  const logins = sql`insert into investor_account (login, quarantined_minor, moved_number, filed_number, pooled_subscription_id)
    select 'q' || lpad(n::text, 5, '0'), -15_00, 1, 1, ${id} from generate_series(1, 1010) as n`;
  await many(pool, logins);
  const counted = sql`select count(*)::int as count from review_case where state = 'OPEN'`;
  await openExternalReviews(world.deps);
  await openExternalReviews(world.deps);
  expect(await many(pool, counted)).toEqual([{ count: 1_010 }]);
  await many(pool, sql`update investor_account set quarantined_minor = 0 where login like 'q%'`);
  await openExternalReviews(world.deps);
  expect(await many(pool, counted)).toEqual([{ count: 0 }]);
});
