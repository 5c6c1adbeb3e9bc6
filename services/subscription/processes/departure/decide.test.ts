import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { expectBooksToReconcile } from "../../testing/books.ts";
import { completeWithdrawal, decideWithdrawal, holdForWithdrawal } from "../../testing/funding.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { deliver, subscribed, aPair, settleAndReconcile } from "../../testing/settle.ts";
import { aCall, aMaster, aWorld, withFees, type World } from "../../testing/world.ts";
import { inBucket, poolLedger } from "../../testing/ledger.ts";
import { pausedAt } from "../../testing/paused.ts";
import { trader } from "../../testing/trader.ts";
import type { Deps } from "../../deps.ts";
import { allocateResults } from "../../jobs/allocate-results.ts";

async function expectNothingReserved({ deps }: World): Promise<void> {
  expect(await many(deps.pool, sql`select key from reserve`)).toEqual([]);
}

test("a try is refused with allocation_in_progress, which is not final, when the Master cannot be read", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  world.platform.state.isDown = true;
  await expect(decideWithdrawal(world, withdrawal)).rejects.toMatchObject({
    code: "allocation_in_progress",
    outcome: "not_executed",
  });
  await expectNothingReserved(world);
  world.platform.state.isDown = false;
  await expect(decideWithdrawal(world, withdrawal)).resolves.toMatchObject({ effective: 200_00n });
});

/** Investors of one Master that request 100.00 each, at the same time and after the Master was read for another one. */
async function decideTogether(world: World, masterLogin: string, investorLogins: readonly string[]) {
  const { investorLogin: earlier } = await subscribed(world, masterLogin, 300_00n);
  const { latch, deps } = pausedAt(world, "readAccount");
  const withdrawals = await Promise.all(
    [earlier, ...investorLogins].map((login) => holdForWithdrawal(world, login, 100_00n)),
  );
  const [first, ...others] = withdrawals;
  const deciding = [decideWithdrawal({ deps }, first!)];
  await latch.reached;
  deciding.push(...others.map((each) => decideWithdrawal({ deps }, each)));
  // Each of them reads its account, then waits for the others.
  await pause(200);
  return { deciding, open: latch.open };
}

test("withdrawals that wait for one Master are decided together", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const pairs = [];
  for (const balance of [500_00n, 400_00n, 300_00n]) pairs.push(await subscribed(world, masterLogin, balance));
  const reads = vi.spyOn(world.platform.client, "readAccount");
  const { deciding, open } = await decideTogether(
    world,
    masterLogin,
    pairs.map(({ investorLogin }) => investorLogin),
  );
  reads.mockClear();
  open();
  const decisions = await Promise.all(deciding);
  expect(decisions.map(({ effective }) => effective)).toEqual([100_00n, 100_00n, 100_00n, 100_00n]);
  // One for the first of them, and one for the three that waited.
  expect(reads.mock.calls.filter(([{ login }]) => login === masterLogin)).toHaveLength(2);
  const { holdings } = await poolLedger(world, masterLogin);
  expect(holdings.map(({ reserved }) => reserved)).toEqual([100_00n, 100_00n, 100_00n, 100_00n]);
  await expectBooksToReconcile(world);
});

test("a withdrawal that is refused when it is decided does not refuse those with it", async () => {
  const { world, ...changed } = await aPair(500_00n);
  const { masterLogin } = changed;
  const other = await subscribed(world, masterLogin, 400_00n);
  const { deciding, open } = await decideTogether(world, masterLogin, [changed.investorLogin, other.investorLogin]);
  enter(world.platform.ledger, changed.investorLogin, { kind: MovementKind.EXTERNAL, amount: 5_00n });
  await deliver(world);
  open();
  const outcomes = await Promise.allSettled(deciding);
  expect(outcomes).toMatchObject([
    { value: { effective: 100_00n } },
    { reason: { code: "account_busy" } },
    { value: { effective: 100_00n } },
  ]);
  await expectBooksToReconcile(world);
});

test("an exit and a withdrawal from one Master are decided together", async () => {
  const { world, ...leaver } = await aPair(500_00n);
  const { masterLogin } = leaver;
  const other = await subscribed(world, masterLogin, 400_00n);
  const findTerms: Deps["fees"]["findTerms"] = async (request, context) => {
    await pause(100);
    return await world.deps.fees.findTerms(request, context);
  };
  const slow = withFees(world, { findTerms });
  const withdrawal = await holdForWithdrawal(world, other.investorLogin, 100_00n);
  const [exit, decision] = await Promise.all([
    slow.service.unassign(leaver, aCall()),
    decideWithdrawal(slow, withdrawal),
  ]);
  expect(exit).toMatchObject({ amount: { minorUnits: -500_00n } });
  expect(decision).toMatchObject({ effective: 100_00n });
  await completeWithdrawal(world, withdrawal);
  await settleAndReconcile(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(300_00n);
});

test("a deal during a decision is allocated at once, and the Master is read again", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 9_999_00n);
  let asked = 0;
  const findTerms: Deps["fees"]["findTerms"] = async (wanted, context) => {
    asked += 1;
    if (asked === 1) {
      // The Master was read meanwhile.
      await pause(200);
      trader(world, masterLogin).result(30_00n);
      await deliver(world);
      await allocateResults(world.deps);
      expect(await inBucket(world, masterLogin, "pooled")).toEqual([530_00n]);
    }
    return await world.deps.fees.findTerms(wanted, context);
  };
  const decision = await decideWithdrawal(withFees(world, { findTerms }), withdrawal);
  expect(decision).toMatchObject({ before: 530_00n });
  expect(asked).toBe(2);
  await expectBooksToReconcile(world);
});

test("a Master that trades in each reading lets no Investor leave, and nothing is reserved", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 100_00n);
  const { client } = world.platform;
  const readAccount: Deps["platform"]["readAccount"] = async (wanted, context) => {
    const reading = await client.readAccount(wanted, context);
    trader(world, masterLogin).result(1_00n);
    await deliver(world);
    return reading;
  };
  const deps = { ...world.deps, platform: { ...client, readAccount } };
  await expect(decideWithdrawal({ deps }, withdrawal)).rejects.toMatchObject({
    code: "allocation_in_progress",
    outcome: "not_executed",
  });
  await expectNothingReserved(world);
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([503_00n]);
});

test("withdrawals whose Master was read with their accounts are decided by that reading", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world);
  const pairs = [await subscribed(world, masterLogin, 500_00n), await subscribed(world, masterLogin, 400_00n)];
  const withdrawals = await Promise.all(
    pairs.map(({ investorLogin }) => holdForWithdrawal(world, investorLogin, 100_00n, { masterLogin })),
  );
  const reads = vi.spyOn(world.platform.client, "readAccount");
  const decisions = await Promise.all(withdrawals.map((withdrawal) => decideWithdrawal(world, withdrawal)));
  expect(decisions.map(({ effective }) => effective)).toEqual([100_00n, 100_00n]);
  expect(reads).not.toHaveBeenCalled();
  await expectBooksToReconcile(world);
});

test("a Master that has traded since it was read with the account is read again", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 600_00n, { masterLogin });
  trader(world, masterLogin).result(50_00n);
  await deliver(world);
  expect(await decideWithdrawal(world, withdrawal)).toMatchObject({ before: 550_00n, effective: 550_00n });
  const next = await subscribed(world, masterLogin, 300_00n);
  const kept = await holdForWithdrawal(world, next.investorLogin, 100_00n, { masterLogin });
  trader(world, masterLogin).open();
  await deliver(world);
  await expect(decideWithdrawal(world, kept)).rejects.toMatchObject({ code: "master_open_positions" });
  await expectBooksToReconcile(world);
});

test("a try that several replicas decide at the same time is decided once, and all see the same decision", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const withdrawal = await holdForWithdrawal(world, investorLogin, 200_00n);
  const replicas = [world.deps, world.deps, { ...world.deps }, { ...world.deps }];
  const decisions = await Promise.all(replicas.map((deps) => decideWithdrawal({ deps }, withdrawal)));
  const figures = { before: 500_00n, pending: 0n, available: 500_00n, effective: 200_00n };
  expect(decisions).toMatchObject(replicas.map(() => ({ state: "DECIDED", ...figures })));
  expect(await inBucket(world, masterLogin, "reserved")).toEqual([200_00n]);
  await expectBooksToReconcile(world);
});
