import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { asOwner } from "#test/support/as-owner.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { SubscriptionStatus, WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import type { Deps } from "../deps.ts";
import { departureKey, feeSuffixOf } from "../domain/departure.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { recordDecisions } from "../jobs/decide-weeks.ts";
import { settleDepartures } from "../jobs/settle-departures.ts";
import { holdLock } from "../processes/account-lock.ts";
import { decide } from "../processes/departure/decide.ts";
import { insertDepartures } from "../store/departures.ts";
import { expectBooksToReconcile } from "./books.ts";
import { debtKey, type Due, OWED_TO } from "./fee-fake.ts";
import {
  aWithdrawal,
  completeWithdrawal,
  decideWithdrawal,
  holdForWithdrawal,
  release,
  takeFee,
  withdraw,
} from "./funding.ts";
import { inBucket, holdingOf } from "./ledger.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { isPosting, postingsAtPlatform } from "./postings-at-platform.ts";
import { deliver, type Pair, settle, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, withFees, type World } from "./world.ts";

/** The lock timeout of the database is half a second. */
const LONGER_THAN_LOCK_TIMEOUT_MS = 800;
/** 30 % of the profit of inProfit() are 600.00. */
const RATE_PPM = 300_000;
const WEEKLY: Due = { key: "fee:payment:1", amount: 50_00n };

/** One Investor with 10,000.00 and a profit of 2,000.00 that is allocated and posted. */
async function inProfit(ratePpm = 0, weekly: readonly Due[] = []): Promise<{ world: World; pair: Pair }> {
  const world = await aWorld();
  world.fees.rules.ratePpm = ratePpm;
  world.fees.rules.openWeekly = () => weekly;
  const pair = await subscribed(world, aMaster(world), 10_000_00n);
  trader(world, pair.masterLogin).result(2_000_00n);
  await settle(world);
  return { world, pair };
}

function expectBalances({ platform }: World, { investorLogin, masterLogin }: Pair, investor: bigint, master: bigint) {
  expect([balanceOf(platform.ledger, investorLogin), balanceOf(platform.ledger, masterLogin)]).toEqual([
    investor,
    master,
  ]);
}

test("a withdrawal that was being decided when another database took over reserves nothing, because its account lock may be lost", async () => {
  const { world, pair } = await inProfit();
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 5_000_00n);
  const { readAccount } = world.platform.client;
  vi.spyOn(world.platform.client, "readAccount").mockImplementationOnce(async (...call) => {
    const read = await readAccount(...call);
    await asOwner(
      world.deps.pool,
      "subscription",
      "create or replace function database_identity() returns text language sql stable as $$ select 'another' $$",
    );
    await world.deps.pool.query("update settled_database set database = 'another'");
    return read;
  });

  await expect(decideWithdrawal(world, withdrawal)).rejects.toMatchObject({
    code: "account_busy",
    outcome: "not_executed",
  });

  expect(await many(world.deps.pool, sql`select key from reserve`)).toEqual([]);
  await expectBooksToReconcile(world);
  await release(world, withdrawal);
  const next = await holdForWithdrawal(world, pair.investorLogin, 5_000_00n, { operationId: "next" });
  expect(await decideWithdrawal(world, next)).toMatchObject({ effective: 5_000_00n });
});

test("a withdrawal pays the whole pending fee first, and both are mirrored", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 5_000_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({
    before: 12_000_00n,
    pending: 600_00n,
    available: 11_400_00n,
    effective: 5_000_00n,
  });
  const reserves = sql`select key, amount_minor as amount from reserve where state = 'OPEN' order by amount_minor`;
  expect(await many(world.deps.pool, reserves)).toEqual([
    { key: `fee:${pair.investorLogin}:${pair.masterLogin}:${feeSuffixOf(withdrawal)}`, amount: 600_00n },
    { key: departureKey(withdrawal), amount: 5_000_00n },
  ]);
  await expectBooksToReconcile(world);
  await completeWithdrawal(world, withdrawal);
  await settle(world);
  expectBalances(world, pair, 6_400_00n, 6_400_00n);
  await expectBooksToReconcile(world);
});

/** Debit and reversal of the fee of one departure, as platform logs them when the credit is refused. */
function giveBack({ platform }: World, login: string): void {
  const debit = getAccount(platform.ledger, login).log.findLast(({ kind }) => kind === MovementKind.FEE_DEBIT);
  enter(platform.ledger, login, {
    kind: MovementKind.REVERSAL,
    amount: -(debit?.amount?.minorUnits ?? 0n),
    key: debit?.key ?? "",
  });
}

test.each([
  ["before the debit is filed", async () => undefined],
  ["after the debit is mirrored", settle],
])(
  "a fee that is given back after its withdrawal has ended, %s, is capital of the pool again",
  async (_when, meanwhile) => {
    const { world, pair } = await inProfit(RATE_PPM);
    expect(await withdraw(world, pair.investorLogin, 12_000_00n, "1")).toBe(11_400_00n);
    await meanwhile(world);
    giveBack(world, pair.investorLogin);
    await settle(world);
    expectBalances(world, pair, 600_00n, 600_00n);
    await expectBooksToReconcile(world);
  },
);

test.each([
  ["before the debit is filed", async () => undefined],
  ["after the exit has left the Master", settle],
])("a fee that is given back after its Investor has left, %s, belongs to the Investor", async (_when, meanwhile) => {
  const { world, pair } = await inProfit(RATE_PPM);
  await world.service.unassign(pair, aCall());
  await meanwhile(world);
  giveBack(world, pair.investorLogin);
  await settle(world);
  expectBalances(world, pair, 12_000_00n, 0n);
  expect(await many(world.deps.pool, sql`select status from subscription`)).toEqual([{ status: "CANCELLED" }]);
  await expectBooksToReconcile(world);
});

test("a withdrawal can take everything, and the Investor stays in the pool with 0.00", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  expect(await withdraw(world, pair.investorLogin, 12_000_00n, "1")).toBe(11_400_00n);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
  const { subscription } = await world.service.findOpenSubscription({ investorLogin: pair.investorLogin }, aCall());
  expect(subscription).toMatchObject({ status: SubscriptionStatus.ACTIVE });
  await expectBooksToReconcile(world);
});

test("fee records what was decided at the exact log position, once, also when the request is repeated", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  trader(world, pair.masterLogin).result(1_00n);
  const { investorLogin, masterLogin } = pair;
  const records = vi.spyOn(world.fees.client, "recordFees");
  await withdraw(world, investorLogin, 1_00n, "1");
  await withdraw(world, investorLogin, 1_00n, "1");
  expect(records).toHaveBeenCalledOnce();
  // Nor does the job send them again.
  expect(await many(world.deps.pool, sql`select id from fee_decision where recorded_at is null`)).toEqual([]);
  const requests = [...world.fees.recorded.values()].map((each) => each.request);
  expect(requests).toEqual([
    {
      key: "withdrawal:1",
      masterLogin,
      periodStart: world.deps.week.anchor,
      periodEnd: expect.any(Date),
      markedAt: undefined,
      isLast: true,
      investors: [
        {
          investorLogin,
          openWeeklyKeys: [],
          due: [
            {
              key: `fee:${investorLogin}:${masterLogin}:WD1`,
              kind: "PF",
              suffix: "WD1",
              masterLogin,
              // It includes the result that was not allocated before.
              amountMinor: 600_30n,
              since: requests[0]?.periodEnd,
              explanation: expect.objectContaining({ throughNumber: "2" }),
            },
          ],
        },
      ],
    },
  ]);
});

test("results that are not posted yet are posted under the account lock before the payout", async () => {
  const { world, pair } = await inProfit();
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 99_999_00n);
  trader(world, pair.masterLogin).result(500_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({
    before: 12_500_00n,
    effective: 12_500_00n,
  });
  await completeWithdrawal(world, withdrawal);
  const { log } = getAccount(world.platform.ledger, pair.investorLogin);
  expect(log.slice(-2).map(({ kind, amount }) => [kind, amount?.minorUnits])).toEqual([
    [MovementKind.RESULT, 500_00n],
    [MovementKind.WITHDRAWAL, -12_500_00n],
  ]);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
  await expectBooksToReconcile(world);
});

test("a posting blocked by the account lock is finished under that lock, with its own key", async () => {
  const { world, pair } = await inProfit();
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 99_999_00n);
  trader(world, pair.masterLogin).result(500_00n);
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.investorLogin)).toBe(12_000_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({ effective: 12_500_00n });
  await completeWithdrawal(world, withdrawal);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
  expect(postingsAtPlatform(world)).toEqual(["1: 200000 applied", "2: 50000 applied"]);
  await expectBooksToReconcile(world);
});

test("a withdrawal whose results cannot be posted in time has an unknown outcome, and a repeated request finishes it", async () => {
  const { world, pair } = await inProfit();
  const { investorLogin } = pair;
  trader(world, pair.masterLogin).result(500_00n);
  world.platform.rules.delay = isPosting;
  const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 99_999_00n });
  await expect(world.service.withdraw(request, aCall({ withinMs: 3_000 }))).rejects.toMatchObject({
    code: "outcome_unknown",
    outcome: "unknown",
    operationId: "1",
  });
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(12_000_00n);
  world.platform.rules.delay = () => false;
  executeWaiting(world.platform);
  expect(await withdraw(world, investorLogin, 99_999_00n, "1")).toBe(12_500_00n);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
  await expectBooksToReconcile(world);
});

test("a withdrawal of an Investor whose share is negative is refused, as its unassign is, and moves nothing", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const pair = await subscribed(world, masterLogin, 100_00n);
  trader(world, masterLogin).result(-130_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "unposted")).toEqual([-30_00n]);
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 50_00n);
  await expect(decideWithdrawal(world, withdrawal)).rejects.toMatchObject({
    code: "investor_deficit",
    outcome: "not_executed",
  });
  await release(world, withdrawal);
  await settle(world);
  expectBalances(world, pair, 0n, -30_00n);
  await expectBooksToReconcile(world);
});

test("an open weekly fee is not part of the available amount, and is collected with the other fees", async () => {
  const { world, pair } = await inProfit(RATE_PPM, [WEEKLY]);
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 99_999_00n);
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({
    before: 11_950_00n,
    pending: 600_00n,
    effective: 11_350_00n,
  });
  await completeWithdrawal(world, withdrawal);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
  await expectBooksToReconcile(world);
});

test("a weekly fee that was already debited is not counted again", async () => {
  const { world, pair } = await inProfit(0, [WEEKLY]);
  await takeFee(world, pair.investorLogin, WEEKLY);
  await settle(world);
  expect(await withdraw(world, pair.investorLogin, 99_999_00n, "1")).toBe(11_950_00n);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
  await expectBooksToReconcile(world);
});

test("external funds pay no fee and are not withdrawn", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  enter(world.platform.ledger, pair.investorLogin, { kind: MovementKind.EXTERNAL, amount: 70_00n });
  await deliver(world);
  expect(await withdraw(world, pair.investorLogin, 99_999_00n, "1")).toBe(11_400_00n);
  await settle(world);
  expectBalances(world, pair, 70_00n, 0n);
  await expectBooksToReconcile(world);
});

test("an unassign pays its fee and returns the rest that leaves the Master", async () => {
  const world = await aWorld();
  world.fees.rules.ratePpm = 275_000;
  const pair = await subscribed(world, aMaster(world), 5_000_00n);
  trader(world, pair.masterLogin).result(421_37n);
  await settle(world);
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({
    subscription: { status: SubscriptionStatus.PAUSED },
    payoutEnqueued: true,
    amount: { minorUnits: -5_305_50n },
  });
  const [sent] = [...world.fees.recorded.values()].map(({ request }) => request);
  expect(sent).toMatchObject({ masterLogin: pair.masterLogin, investors: [{ due: [{ suffix: `UA${pair.id}` }] }] });
  expect(getAccount(world.platform.ledger, pair.investorLogin).lockOwner).toBeUndefined();
  await settle(world);
  expectBalances(world, pair, 5_305_50n, 0n);
  const { subscription } = await world.service.findOpenSubscription({ investorLogin: pair.investorLogin }, aCall());
  expect(subscription).toBeUndefined();
  await expectBooksToReconcile(world);
});

test("a finally refused fee of an exit leaves the Master by a further exit, and then the subscription is CANCELLED", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  world.platform.rules.refuse = ({ key }) => (key.endsWith(`:UA${pair.id}`) ? "platform_rejected" : undefined);
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({ amount: { minorUnits: -11_400_00n } });
  await settle(world);
  expectBalances(world, pair, 12_000_00n, 0n);
  expect(world.platform.byKey.has(`exit:${pair.id}:2`)).toBe(true);
  await expectBooksToReconcile(world);
});

test("an Investor that leaves takes its share of the results since its entry, to the cent", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const pairs = [await subscribed(world, masterLogin, 1_000_00n), await subscribed(world, masterLogin, 1_000_00n)];
  const remaining = await subscribed(world, masterLogin, 1_000_00n);
  const master = trader(world, masterLogin);
  master.result(100_00n);
  for (const pair of pairs) await world.service.unassign(pair, aCall());
  await settle(world);
  expect(await holdingOf(world, masterLogin, remaining.id)).toMatchObject({ pooled: 1_033_33n });
  master.result(-33_33n);
  await settle(world);
  expect(await holdingOf(world, masterLogin, remaining.id)).toMatchObject({ pooled: 1_000_00n });
  expect(pairs.map(({ investorLogin }) => balanceOf(world.platform.ledger, investorLogin))).toEqual([
    1_033_34n,
    1_033_33n,
  ]);
  await expectBooksToReconcile(world);
});

test("outside a pool fees are due, and no Master is read", async () => {
  const world = await aWorld();
  world.fees.rules.debt = () => 600_00n;
  const investorLogin = anInvestor(world, 1_000_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 700_00n);
  const reads = vi.spyOn(world.platform.client, "readAccount");
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({
    subscriptionId: null,
    masterLogin: null,
    before: 1_000_00n,
    pending: 600_00n,
    available: 400_00n,
    effective: 400_00n,
  });
  expect(reads).not.toHaveBeenCalled();
  await completeWithdrawal(world, withdrawal);
  const [sent] = [...world.fees.recorded.values()].map(({ request }) => request);
  expect(sent).toMatchObject({
    masterLogin: OWED_TO,
    investors: [{ due: [{ key: debtKey(investorLogin, departureKey(withdrawal)) }] }],
  });
  await settle(world);
  expect(balanceOf(world.platform.ledger, investorLogin)).toBe(0n);
  await expectBooksToReconcile(world);
});

test("an exit of a subscription that another command has ended is finally refused", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 1_000_00n);
  const { investorLogin, masterLogin, id: subscriptionId } = pair;
  await world.service.unassign(pair, aCall());
  const outcomeOf = async (operationId: string) => {
    const at = world.deps.now();
    const times = { at, deadlineAt: at, recoverInMs: 60_000, queueUntil: undefined };
    const own = { kind: "EXIT", operationId, investorLogin, subscriptionId, masterLogin, requestId: "" } as const;
    const [exit] = await insertDepartures(world.deps.pool, [{ ...own, ...times }]);
    const held = await holdLock(world.deps, { login: investorLogin, lockOwner: exit?.lockOwner ?? "" }, aCall());
    const end = await decide(
      world.deps,
      { ...exit!, heldBalance: held.balance, heldLogNumber: held.logNumber },
      aCall(),
    );
    await world.platform.client.release({ login: investorLogin, lockOwner: exit?.lockOwner ?? "" }, aCall());
    return end;
  };
  await expect(outcomeOf("1")).resolves.toMatchObject({ kind: "refused", refusal: { code: "exit_in_progress" } });
  await settle(world);
  await expect(outcomeOf("2")).resolves.toMatchObject({
    kind: "refused",
    refusal: { code: "subscription_not_active" },
  });
});

test("while the fee service is unavailable no Investor leaves, and the undecided try is refused", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  world.fees.rules.isDown = true;
  await expect(world.service.unassign(pair, aCall({ withinMs: 2_000 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
  });
  world.fees.rules.isDown = false;
  await expect(world.service.unassign(pair, aCall())).resolves.toMatchObject({ amount: { minorUnits: -11_400_00n } });
});

test.each([
  ["in a pool", true],
  ["outside of one", false],
])(
  "a decided withdrawal %s whose fee is not recorded in time has an unknown outcome, and is finished by a repeated request or the jobs",
  async (_where, isPooled) => {
    for (const isRepeated of [true, false]) {
      const { world, pair } = await inProfit(RATE_PPM);
      const investorLogin = isPooled ? pair.investorLogin : anInvestor(world, 12_000_00n);
      if (!isPooled) world.fees.rules.debt = () => 600_00n;
      const recordFees: Deps["fees"]["recordFees"] = () => Promise.reject(serviceUnavailable("fee"));
      const withoutFees = withFees(world, { recordFees });
      await expect(withdraw(withoutFees, investorLogin, 1_000_00n, "1")).rejects.toMatchObject({
        code: "outcome_unknown",
        operationId: "1",
      });
      // Nothing waits for it: results are allocated, and are not part of the decision.
      trader(world, pair.masterLogin).result(300_00n);
      await deliver(world);
      await allocateResults(world.deps);
      expect(world.fees.recorded.size).toBe(0);
      await passTime(world, 10_000);
      await recordDecisions(world.deps);
      expect(world.fees.recorded.size).toBe(1);
      if (!isRepeated) await settleDepartures(world.deps);
      const after = isPooled ? 10_700_00n : 10_400_00n;
      expect(balanceOf(world.platform.ledger, investorLogin)).toBe(isRepeated ? 12_000_00n : after);
      const request = aWithdrawal(world, { operationId: "1", investorLogin, amount: 1_000_00n });
      expect(await world.service.withdraw(request, aCall())).toMatchObject({
        state: WithdrawalState.PAID,
        figures: {
          balanceBefore: { minorUnits: 12_000_00n },
          pendingFee: { minorUnits: 600_00n },
          effective: { minorUnits: 1_000_00n },
        },
      });
      expect(balanceOf(world.platform.ledger, investorLogin)).toBe(after);
      await settle(world);
      await expectBooksToReconcile(world);
      expectBalances(world, pair, isPooled ? 10_700_00n : 12_300_00n, isPooled ? 10_700_00n : 12_300_00n);
    }
  },
);

test("a deposit that reaches the Master while it is read has its units before the withdrawal is decided", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const pair = await subscribed(world, masterLogin, 1_000_00n);
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 500_00n);
  let asked = 0;
  const findTerms: Deps["fees"]["findTerms"] = async (wanted, context) => {
    asked += 1;
    if (asked === 1) await subscribed(world, masterLogin, 500_00n);
    return await world.deps.fees.findTerms(wanted, context);
  };
  await expect(decideWithdrawal(withFees(world, { findTerms }), withdrawal)).resolves.toMatchObject({
    effective: 500_00n,
  });
  // Its mirror is an entry in the log of the Master.
  expect(asked).toBe(2);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([500_00n, 500_00n]);
  await expectBooksToReconcile(world);
});

test("two concurrent exits are decided one after the other, each with all results allocated so far", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 0n);
  const pairs = [await subscribed(world, masterLogin, 1_000_00n), await subscribed(world, masterLogin, 3_000_00n)];
  trader(world, masterLogin).result(400_00n);
  const answers = await Promise.all(pairs.map((pair) => world.service.unassign(pair, aCall())));
  expect(answers.map(({ amount }) => amount!.minorUnits)).toEqual([-1_100_00n, -3_300_00n]);
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
  expect(pairs.map(({ investorLogin }) => balanceOf(world.platform.ledger, investorLogin))).toEqual([
    1_100_00n,
    3_300_00n,
  ]);
  await expectBooksToReconcile(world);
});

test("a withdrawal waits while another transaction holds the lock of the Master beyond the lock timeout", async () => {
  const { world, pair } = await inProfit();
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 1_00n);
  const other = await world.deps.pool.connect();
  try {
    await other.query("begin");
    await other.query("select login from master_pool where login = $1 for update", [pair.masterLogin]);
    const deciding = decideWithdrawal(world, withdrawal);
    await sleep(LONGER_THAN_LOCK_TIMEOUT_MS);
    await other.query("commit");
    await expect(deciding).resolves.toMatchObject({ effective: 1_00n });
  } finally {
    other.release();
  }
});
