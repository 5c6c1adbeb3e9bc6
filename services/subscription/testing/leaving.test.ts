import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { balances } from "./ledger.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { holdLock } from "../processes/account-lock.ts";
import { decide } from "../processes/departure/decide.ts";
import { insertDepartures } from "../store/departures.ts";
import { expectBooksToReconcile } from "./books.ts";
import { type Due } from "./fee-fake.ts";
import {
  aWithdrawal,
  completeWithdrawal,
  decideWithdrawal,
  holdForWithdrawal,
  release,
  takeFee,
  withdraw,
} from "./funding.ts";
import { balanceOf, enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { executeWaiting } from "#test/support/platform-fake/transfers.ts";
import { isPosting, postingsAtPlatform } from "./postings-at-platform.ts";
import { type Pair, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, aWorld, type World } from "./world.ts";

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

function expectBalances(world: World, { investorLogin, masterLogin }: Pair, investor: bigint, master: bigint) {
  expect(balances(world, investorLogin, masterLogin)).toEqual([investor, master]);
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

/** Debit and reversal of the fee of one departure, as platform logs them when the credit is refused. */
function giveBack({ platform }: World, login: string): void {
  const debit = getAccount(platform.ledger, login).log.findLast(({ kind }) => kind === MovementKind.FEE_DEBIT);
  enter(platform.ledger, login, {
    kind: MovementKind.REVERSAL,
    amount: -(debit?.amount?.minorUnits ?? 0n),
    key: debit?.key ?? "",
  });
}

test("a fee that is given back after its withdrawal has ended, before its debit is filed, is capital of the pool again", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  expect(await withdraw(world, pair.investorLogin, 12_000_00n, "1")).toBe(11_400_00n);
  giveBack(world, pair.investorLogin);
  await settleAndReconcile(world);
  expectBalances(world, pair, 600_00n, 600_00n);
});

test("a fee that is given back after the exit of its Investor has left the Master belongs to the Investor", async () => {
  const { world, pair } = await inProfit(RATE_PPM);
  await world.service.unassign(pair, aCall());
  await settle(world);
  giveBack(world, pair.investorLogin);
  await settleAndReconcile(world);
  expectBalances(world, pair, 12_000_00n, 0n);
  expect(await many(world.deps.pool, sql`select status from subscription`)).toEqual([{ status: "CANCELLED" }]);
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
  const [{ request } = { request: undefined }] = world.fees.recorded.values();
  // It includes the result that was not allocated before.
  const fee = {
    key: `fee:${investorLogin}:${masterLogin}:WD1`,
    kind: "PF",
    suffix: "WD1",
    amountMinor: 600_30n,
    since: request?.periodEnd,
  };
  expect(request).toMatchObject({
    key: "withdrawal:1",
    masterLogin,
    periodStart: world.deps.week.anchor,
    isLast: true,
    investors: [{ investorLogin, openWeeklyKeys: [], due: [{ ...fee, explanation: { throughNumber: "2" } }] }],
  });
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
  await expect(world.service.withdraw(request, aCall({ withinMs: 2_000 }))).rejects.toMatchObject({
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

test("a weekly fee that was already debited is not counted again", async () => {
  const { world, pair } = await inProfit(0, [WEEKLY]);
  await takeFee(world, pair.investorLogin, WEEKLY);
  await settle(world);
  expect(await withdraw(world, pair.investorLogin, 99_999_00n, "1")).toBe(11_950_00n);
  await settle(world);
  expectBalances(world, pair, 0n, 0n);
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

test("an exit of a subscription that another command has ended is finally refused", async () => {
  const { world, ...pair } = await aPair(1_000_00n);
  const { investorLogin, masterLogin, id: subscriptionId } = pair;
  await world.service.unassign(pair, aCall());
  const outcomeOf = async (operationId: string) => {
    const at = world.deps.now();
    const times = { at, deadlineAt: at, recoverInMs: 60_000, queueUntil: undefined };
    const none = { requested: 0n, comment: "", requestId: "" };
    const own = { kind: "EXIT", operationId, investorLogin, subscriptionId, masterLogin, ...none } as const;
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
