import { expect, test, vi } from "vitest";
import { sized } from "#test/support/proof.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { allocateMaster } from "../jobs/allocate-results.ts";
import { markMaster } from "../processes/allocate/mark-master.ts";
import { catchUp } from "../processes/filing/catch-up.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { lastCutOff } from "../domain/weeks.ts";
import { subscriptionService } from "../service.ts";
import {
  anOperation,
  crashAtEveryPoint,
  CRASH_TEST_MS,
  endOf,
  recover,
  statusOf,
  times,
} from "./crash-at-every-point.ts";
import { deposit, requestWithdrawal } from "./funding.ts";
import { entriesOf, inBucket, pairOf, balances } from "./ledger.ts";
import { balanceOf, getAccount } from "#test/support/platform-fake/ledger.ts";
import { type Pair, settle, subscribedAll } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, type World } from "./world.ts";
import { postResults } from "../processes/posting/send-postings.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

const pairs = (world: World, count: number) =>
  subscribedAll(
    world,
    times(count, () => ({ masterLogin: aMaster(world), balance: 500_00n })),
  );

/** The jobs of one Master. */
async function runMasterJobs(deps: Deps, { masterLogin, investorLogin }: Omit<Pair, "id">): Promise<void> {
  await catchUp(deps, { login: masterLogin }, jobContext());
  await allocateMaster(deps, masterLogin);
  await markMaster(deps, masterLogin, jobContext());
  await allocateMaster(deps, masterLogin);
  await postResults(deps);
  await catchUp(deps, { login: investorLogin }, jobContext());
}

/** Each Investor owes 9.00, and 21.00 of a profit of 70.00. */
function setFeesDue({ fees: { rules } }: World): void {
  rules.debt = () => 9_00n;
  rules.ratePpm = 300_000;
}

/** Each fee of an Investor was decided once, and its profit is charged. */
async function expectDecidedOnce(world: World, pair: Omit<Pair, "id">): Promise<void> {
  const fees = sql`select kind, amount_minor as amount from due_fee where investor_login = ${pair.investorLogin} order by number`;
  expect(await many(world.deps.pool, fees)).toEqual([
    { kind: "PF_DEBT", amount: 9_00n },
    { kind: "PF", amount: 21_00n },
  ]);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 70_00n, mark: 70_000_000_00n, layers: [] });
}

test("allocation, strikes and postings that crash at any point happen exactly once", async () => {
  const world = await aWorld();
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const made = await pairs(world, count);
      for (const { masterLogin, investorLogin } of made) {
        const master = trader(world, masterLogin);
        const position = master.open();
        master.float(position, 200_00n);
        master.charge(-3_00n);
        await deposit(world, investorLogin, 100_00n);
      }
      await settle(world);
      for (const { masterLogin } of made) trader(world, masterLogin).result(40_00n);
      return made;
    },
    run: runMasterJobs,
  });
  for (const { masterLogin, investorLogin } of cases) {
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([637_00n]);
    expect(balances(world, investorLogin, masterLogin)).toEqual([637_00n, 637_00n]);
  }
});

test("the close of a week that crashes at any point is recorded once, between the right results", async () => {
  // So long that the time which passes after all crashes ends no other week.
  const week = { anchor: new Date(Date.now() + HOUR_MS / 2), periodMs: 30 * 24 * HOUR_MS };
  const world = await aWorld({ week });
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const made = await pairs(world, count);
      const cutOff = new Date(lastCutOff(week, world.deps.now()).getTime() + week.periodMs);
      for (const { masterLogin } of made) {
        trader(world, masterLogin).result(10_00n, { at: new Date(cutOff.getTime() - 1) });
        trader(world, masterLogin).result(20_00n, { at: cutOff });
      }
      return made.map((pair) => ({ ...pair, cutOff }));
    },
    run: async (deps, { cutOff, ...pair }) => {
      const leftMs = cutOff.getTime() - world.deps.now().getTime();
      if (leftMs > 0) await passTime(world, leftMs + HOUR_MS);
      await runMasterJobs(deps, pair);
    },
  });
  for (const { masterLogin } of cases) {
    const entries = await entriesOf(world, masterLogin);
    expect(entries.map(({ kind, result }) => result ?? kind)).toEqual([10_00n, "WEEK", 20_00n]);
    expect(await inBucket(world, masterLogin, "pooled")).toEqual([530_00n]);
  }
});

test("a withdrawal with results and fees that crashes at any point is one decision with one fee and one payout, or none", async () => {
  const world = await aWorld();
  setFeesDue(world);
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const made = await pairs(world, count);
      for (const { masterLogin } of made) trader(world, masterLogin).result(70_00n);
      return made.map((pair) => ({ ...pair, operation: anOperation() }));
    },
    run: (deps, { investorLogin, operation }) =>
      requestWithdrawal({ service: subscriptionService(deps), deps }, investorLogin, 200_00n, operation),
    // So that a crash after the payout is among them.
    stride: sized({ test: 3, proof: 1 }),
  });
  const ends = new Set<string>();
  for (const { investorLogin, masterLogin, operation } of cases) {
    const end = await endOf(world, operation.operationId);
    ends.add(end);
    const answer = await requestWithdrawal(world, investorLogin, 200_00n, operation);
    await settle(world);
    const left = balances(world, masterLogin, investorLogin);
    expect(getAccount(world.platform.ledger, investorLogin).lockOwner).toBeUndefined();
    if (end === "REFUSED") {
      expect(answer.state).toBe(WithdrawalState.REFUSED);
      expect(left).toEqual([570_00n, 570_00n]);
      continue;
    }
    expect(answer).toMatchObject({
      state: WithdrawalState.PAID,
      figures: {
        balanceBefore: { minorUnits: 570_00n },
        pendingFee: { minorUnits: 30_00n },
        availableAfterFee: { minorUnits: 540_00n },
        effective: { minorUnits: 200_00n },
      },
    });
    expect(left).toEqual([340_00n, 340_00n]);
    await expectDecidedOnce(world, { masterLogin, investorLogin });
  }
  expect(ends).toEqual(new Set(["nothing", "REFUSED", "ENDED 20000"]));
  await recover(world);
  expect(await many(world.deps.pool, sql`select key from reserve where state = 'OPEN'`)).toEqual([]);
});

test("a withdrawal outside a pool that crashes at any point is one decision with one fee and one payout, or none", async () => {
  const world = await aWorld();
  world.fees.rules.debt = () => 30_00n;
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) =>
      times(count, () => ({ investorLogin: anInvestor(world, 100_00n), operation: anOperation() })),
    run: (deps, { investorLogin, operation }) =>
      requestWithdrawal({ service: subscriptionService(deps), deps }, investorLogin, 99_99n, operation),
  });
  const ends = new Set<string>();
  for (const { investorLogin, operation } of cases) {
    const end = await endOf(world, operation.operationId);
    ends.add(end);
    const answer = await requestWithdrawal(world, investorLogin, 99_99n, operation);
    const isPaid = end !== "REFUSED";
    expect(balanceOf(world.platform.ledger, investorLogin)).toBe(isPaid ? 0n : 100_00n);
    if (!isPaid) continue;
    expect(answer.figures).toMatchObject({
      balanceBefore: { minorUnits: 100_00n },
      pendingFee: { minorUnits: 30_00n },
      effective: { minorUnits: 70_00n },
    });
  }
  expect(ends).toEqual(new Set(["nothing", "REFUSED", "ENDED 7000"]));
});

test("an unassign with a result and a fee that crashes at any point takes the fee once or not at all", async () => {
  const world = await aWorld();
  setFeesDue(world);
  const cases = await crashAtEveryPoint(world, {
    prepare: async (count) => {
      const made = await pairs(world, count);
      for (const { masterLogin } of made) trader(world, masterLogin).result(70_00n);
      return made;
    },
    run: (deps, pair) => subscriptionService(deps).unassign(pair, aCall()),
  });
  const outcomes = new Set<string>();
  for (const { masterLogin, investorLogin } of cases) {
    const status = await statusOf(world, investorLogin);
    outcomes.add(status);
    expect(getAccount(world.platform.ledger, investorLogin).lockOwner).toBeUndefined();
    expect(balances(world, masterLogin, investorLogin)).toEqual([
      status === "ACTIVE" ? 570_00n : 0n,
      status === "ACTIVE" ? 570_00n : 540_00n,
    ]);
    if (status !== "ACTIVE") await expectDecidedOnce(world, { masterLogin, investorLogin });
  }
  expect(outcomes).toEqual(new Set(["ACTIVE", "CANCELLED"]));
});
