import { expect, test } from "vitest";
import { aPool } from "./trading-pairs.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { outcomeUnknown } from "#kernel/contract/refusals.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import type { Deps } from "../deps.ts";
import { expectBooksToReconcile } from "./books.ts";
import { completeWithdrawal, decideWithdrawal, deposit, holdForWithdrawal, release, withdraw } from "./funding.ts";
import { aWorldWithHourlyWeeks, before, passTimeTo } from "./hourly-weeks.ts";
import { inBucket, pairOf } from "./ledger.ts";
import { decide, reviewWithReason } from "./reviews.ts";
import { type Pair, settle, subscribed, whileJobsRun, settleAndReconcile } from "./settle.ts";
import { aCall, aMaster, anAssignment, withFees, type World } from "./world.ts";

/** Units of 1e-8 USD. */
const CENT = 1_000_000n;

/** Pools of which 30 % of the profit are due, and weeks of an hour. */
async function feePool(...balances: readonly bigint[]) {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  world.fees.rules.ratePpm = 300_000;
  const pool = await aPool(world, ...balances);
  return { ...pool, cutOff, pair: pool.pairs[0]! };
}

async function closeWeek(world: World, cutOff: Date): Promise<void> {
  await passTimeTo(world, cutOff);
  await settle(world);
}

/** All decided fees in their sequence: kind, last part of the suffix, cents. */
async function decidedFees({ deps }: World): Promise<(readonly [string, bigint])[]> {
  const rows = await many<{ suffix: string; amount: bigint }>(
    deps.pool,
    sql`select suffix, amount_minor as amount from due_fee order by decision_id, number`,
  );
  return rows.map(({ suffix, amount }) => [suffix.slice(0, 2), amount]);
}

let withdrawals = 0;

/** A withdrawal in the presence of the jobs; the cents that it has paid. */
async function withdrawn(world: World, { investorLogin }: Pair, amount: bigint): Promise<bigint> {
  const paid = await whileJobsRun(world, withdraw(world, investorLogin, amount, String((withdrawals += 1))));
  await settleAndReconcile(world);
  return paid;
}

test("a withdrawal pays for the profit above the mark, once, and for new profit only above it", async () => {
  const { world, pair, master } = await feePool(10_000_00n);
  master.result(2_000_00n);
  await settle(world);
  // A result alone changes nothing in it.
  expect(await pairOf(world, pair)).toEqual({ foldedNumber: 0n, earned: 0n, mark: 0n, layers: [] });

  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 5_000_00n);
  expect(await decideWithdrawal(world, withdrawal)).toMatchObject({
    before: 12_000_00n,
    pending: 600_00n,
    available: 11_400_00n,
    effective: 5_000_00n,
  });
  expect(await pairOf(world, pair)).toEqual({
    foldedNumber: 1n,
    earned: 2_000_00n,
    mark: 2_000_00n * CENT,
    layers: [],
  });
  expect(await inBucket(world, pair.masterLogin, "reserved")).toEqual([5_600_00n]);
  await completeWithdrawal(world, withdrawal);
  await settle(world);
  expect(balanceOf(world.platform.ledger, pair.masterLogin)).toBe(6_400_00n);

  master.result(-400_00n);
  expect(await withdrawn(world, pair, 1_00n)).toBe(1_00n);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 1_600_00n, mark: 2_000_00n * CENT, layers: [] });
  master.result(500_00n);
  expect(await withdrawn(world, pair, 1_00n)).toBe(1_00n);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 2_100_00n, mark: 2_100_00n * CENT });
  expect(await decidedFees(world)).toEqual([
    ["WD", 600_00n],
    ["WD", 30_00n],
  ]);
});

test("a closed week pays for the profit of each Investor, and the next one only for what is new", async () => {
  const { world, cutOff, masterLogin, pairs, master } = await feePool(750_00n, 250_00n);
  const [first, second] = pairs as [Pair, Pair];
  master.result(100_00n, { at: before(cutOff(0)) });
  master.result(40_00n, { at: cutOff(0) });
  await closeWeek(world, cutOff(0));
  const key = ({ investorLogin }: Pair, index: number) =>
    `fee:${investorLogin}:${masterLogin}:W:${cutOff(index).toISOString()}`;
  const due = (pair: Pair, index: number, amountMinor: bigint) => {
    const fee = { key: key(pair, index), kind: "PF", suffix: "W", masterLogin, amountMinor, since: cutOff(index) };
    return { investorLogin: pair.investorLogin, openWeeklyKeys: [], due: [expect.objectContaining(fee)] };
  };
  const week = (index: number, ...investors: unknown[]) => {
    return { masterLogin, key: "", periodStart: cutOff(index - 1), periodEnd: cutOff(index), isLast: true, investors };
  };
  expect(world.fees.weeks).toMatchObject([week(0, due(first, 0, 22_50n), due(second, 0, 7_50n))]);
  // The result at the cut-off is of the next week.
  expect(await pairOf(world, first)).toEqual({ foldedNumber: 2n, earned: 75_00n, mark: 75_00n * CENT, layers: [] });

  await closeWeek(world, cutOff(1));
  expect(world.fees.weeks.slice(1)).toMatchObject([week(1, due(first, 1, 9_00n), due(second, 1, 3_00n))]);
  await closeWeek(world, cutOff(2));
  // Nothing is due: fee receives the end of the week alone.
  expect(world.fees.weeks.slice(2)).toMatchObject([week(2)]);
  expect(await many(world.deps.pool, sql`select number from open_week`)).toEqual([]);
});

test("profit is charged at the rate of its time, also when the rate was changed for a time that was added up before", async () => {
  const { world, cutOff, pair, master } = await feePool(1_000_00n);
  const [first, second] = [before(cutOff(0), 20 * MINUTE_MS), before(cutOff(0), 10 * MINUTE_MS)];
  master.result(20_00n, { at: first });
  master.result(30_00n, { at: second });
  const position = master.open({ at: second });
  master.float(position, -50_00n);
  await closeWeek(world, cutOff(0));
  expect(await decidedFees(world)).toEqual([]);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 50_00n, mark: 0n, layers: [50_00n * CENT] });

  world.fees.rules.changes = [{ from: second, ratePpm: 100_000 }];
  master.close(position, { at: cutOff(0) });
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 1_00n);
  expect(await decideWithdrawal(world, withdrawal)).toMatchObject({ pending: 9_00n });
  expect(await pairOf(world, pair)).toMatchObject({ mark: 50_00n * CENT, layers: [] });
  await completeWithdrawal(world, withdrawal);
  const [{ request } = { request: undefined }] = world.fees.recorded.values();
  const [explanation] = (request?.investors ?? []).flatMap(({ due }) => due.map((fee) => fee.explanation));
  expect(explanation).toMatchObject({
    charged: [
      { amount: "20.00", rate: "0.300000", version: "1" },
      { amount: "30.00", rate: "0.100000", version: "2" },
    ],
  });
});

test("the repair of a deal is profit at the rate of that deal's time", async () => {
  const { world, cutOff, pair, master } = await feePool(1_000_00n);
  const change = before(cutOff(0), 10 * MINUTE_MS);
  world.fees.rules.changes = [{ from: change, ratePpm: 100_000 }];
  const { dealId } = master.result(-100_00n, { at: before(change) });
  master.result(150_00n, { at: change });
  await settle(world);
  expect(await withdrawn(world, pair, 1_00n)).toBe(1_00n);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 50_00n, mark: 50_00n * CENT });

  enter(world.platform.ledger, pair.masterLogin, { kind: MovementKind.EXTERNAL, amount: 100_00n });
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "allocate", dealId);
  await settle(world);
  expect(await withdrawn(world, pair, 1_00n)).toBe(1_00n);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 150_00n, mark: 150_00n * CENT, layers: [] });
  expect(await decidedFees(world)).toEqual([
    ["WD", 5_00n],
    ["WD", 30_00n],
  ]);
});

test("an Investor that subscribes again continues at its mark, and pays for a repair of its time before", async () => {
  const { world, masterLogin, pairs, pair, master } = await feePool(1_000_00n, 1_000_00n);
  const { dealId } = master.result(-40_00n);
  master.result(240_00n);
  await settle(world);
  expect(await world.service.unassign(pair, aCall())).toMatchObject({ amount: { minorUnits: -1_070_00n } });
  await settle(world);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 100_00n, mark: 100_00n * CENT });
  // In its absence others have all of it.
  master.result(500_00n);
  await settle(world);

  await world.service.assign(anAssignment(pair), aCall());
  await settle(world);
  master.charge(-48_00n);
  await settle(world);
  const { earned } = await decidedPair(world, pair);
  expect(earned < 100_00n).toBe(true);
  // Of the repair it has its part of the time before.
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 100_00n });
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "allocate", dealId);
  await settle(world);
  expect(await decidedPair(world, pair)).toMatchObject({
    earned: earned + 50_00n,
    mark: (earned + 50_00n) * CENT,
    layers: [],
  });
  const ofPair = sql`select amount_minor as amount from due_fee where investor_login = ${pair.investorLogin} order by decision_id`;
  const fee = ((earned + 50_00n - 100_00n) * 30n) / 100n;
  expect(await many(world.deps.pool, ofPair)).toEqual([{ amount: 30_00n }, { amount: fee }]);
  const rows = sql`select count(*)::int as pairs from pair`;
  expect(await many(world.deps.pool, rows)).toEqual([{ pairs: pairs.length }]);
  await expectBooksToReconcile(world);
});

test("the results between an exit and the next assign are not read again, except from the first repair among them on", async () => {
  const { world, masterLogin, pair, master } = await feePool(1_000_00n, 1_000_00n);
  const { dealId } = master.result(-40_00n);
  await settle(world);
  const again = async () => {
    await world.service.assign(anAssignment(pair), aCall());
    await settle(world);
    return (await pairOf(world, pair)).foldedNumber;
  };
  const leave = async () => {
    await world.service.unassign(pair, aCall());
    await settle(world);
    return (await pairOf(world, pair)).foldedNumber;
  };
  expect(await leave()).toBe(1n);
  for (let results = 0; results < 3; results += 1) master.result(5_00n);
  await settle(world);
  expect(await again()).toBe(4n);
  expect(await leave()).toBe(4n);
  master.result(5_00n);
  await settle(world);
  enter(world.platform.ledger, masterLogin, { kind: MovementKind.EXTERNAL, amount: 30_00n });
  await settle(world);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "allocate", dealId);
  master.result(5_00n);
  await settleAndReconcile(world);
  expect(await again()).toBe(5n);
  expect(await leave()).toBe(7n);
  // Of the first result and of its repair.
  expect(await pairOf(world, pair)).toMatchObject({ earned: -20_00n + 15_00n });
});

/** The pair after a withdrawal of a cent. */
async function decidedPair(world: World, pair: Pair) {
  expect(await withdrawn(world, pair, 1n)).toBe(1n);
  return await pairOf(world, pair);
}

test("a debt that another decision has taken is not recorded, and its reserve returns to the pool", async () => {
  const { world, pair } = await feePool(1_000_00n);
  world.fees.rules.debt = () => 12_00n;
  const recordFees: Deps["fees"]["recordFees"] = async (request, context) => {
    const investors = request.investors.map((each) => ({
      ...each,
      due: each.due.filter(({ kind }) => kind === "PF"),
    }));
    return await world.deps.fees.recordFees({ ...request, investors }, context);
  };
  expect(await withdrawn(withFees(world, { recordFees }), pair, 100_00n)).toBe(100_00n);
  expect(await inBucket(world, pair.masterLogin, "pooled")).toEqual([900_00n]);
  expect(await many(world.deps.pool, sql`select state from reserve order by amount_minor`)).toEqual([
    { state: "RETURNED" },
    { state: "SETTLED" },
  ]);
});

test.each([
  ["does not answer", outcomeUnknown("fee")],
  ["fails otherwise", new Error("planted")],
])(
  "an exit whose fees were not recorded, because fee %s, is finished with its fees, and not without them",
  async (_how, error) => {
    const { world, pair, master } = await feePool(1_000_00n);
    master.result(100_00n);
    await settle(world);
    const unreachable = withFees(world, { recordFees: () => Promise.reject(error) });
    const command = { ...aCall(), commandId: "0197a000-0000-7000-8000-000000000001" };
    // The Investor has left the pool: nothing may say that this was not executed.
    await expect(unreachable.service.unassign(pair, command)).rejects.toMatchObject({
      code: "outcome_unknown",
      outcome: "unknown",
      operationId: command.commandId,
    });
    // Before the job that records what is left.
    expect(await world.service.unassign(pair, command)).toMatchObject({ amount: { minorUnits: -1_070_00n } });
    expect(balanceOf(world.platform.ledger, pair.investorLogin)).toBe(1_070_00n);
    await settleAndReconcile(world);
    expect(await many(world.deps.pool, sql`select key from reserve where state = 'OPEN'`)).toEqual([]);
  },
);

test("a fee of a week that ended without a debit while it was counted keeps no reserve", async () => {
  const { world, pair } = await feePool(1_000_00n);
  world.fees.rules.openWeekly = () => [{ key: "fee:weekly", amount: 50_00n }];
  const recordFees: Deps["fees"]["recordFees"] = async (request, context) => {
    const investors = request.investors.map((each) => ({ ...each, openWeeklyKeys: [] }));
    const answer = await world.deps.fees.recordFees({ ...request, investors }, context);
    return { ...answer, endedKeys: ["fee:weekly"] };
  };
  expect(await withdrawn(withFees(world, { recordFees }), pair, 100_00n)).toBe(100_00n);
  expect(await inBucket(world, pair.masterLogin, "pooled")).toEqual([900_00n]);
  expect(await many(world.deps.pool, sql`select key from reserve where state = 'OPEN'`)).toEqual([]);
});

test("while fee is away the pool goes on, no Investor leaves, and afterwards everything is caught up", async () => {
  const { world, cutOff, masterLogin, pairs, pair, master } = await feePool(750_00n, 250_00n);
  const { ledger } = world.platform;
  world.fees.rules.isDown = true;
  master.result(100_00n, { at: before(cutOff(0)) });
  await closeWeek(world, cutOff(0));
  master.result(20_00n);
  await deposit(world, pair.investorLogin, 200_00n);
  await settle(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([1_040_00n, 280_00n]);
  expect(pairs.map(({ investorLogin }) => balanceOf(ledger, investorLogin))).toEqual([1_040_00n, 280_00n]);
  expect(balanceOf(ledger, masterLogin)).toBe(1_320_00n);
  const withdrawal = await holdForWithdrawal(world, pair.investorLogin, 100_00n);
  await expect(decideWithdrawal(world, withdrawal, aCall({ withinMs: 1_000 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
    outcome: "not_executed",
  });
  await release(world, withdrawal);
  await expect(world.service.unassign(pair, aCall({ withinMs: 1_200 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
  });
  expect(await many(world.deps.pool, sql`select key from reserve`)).toEqual([]);
  expect(await decidedFees(world)).toEqual([]);
  await expectBooksToReconcile(world);

  world.fees.rules.isDown = false;
  await passTimeTo(world, world.deps.now(), MINUTE_MS);
  await settle(world);
  expect(await decidedFees(world)).toEqual([
    ["W", 22_50n],
    ["W", 7_50n],
  ]);
  // 15.00 of the 20.00 are its own, and weekly fees are collected first.
  expect(await withdrawn(world, pair, 9_999_00n)).toBe(1_040_00n - 22_50n - 4_50n);
  await world.service.unassign(pair, aCall());
  await settleAndReconcile(world);
});

test("terms of another database decide nothing: no withdrawal, no week, no debt", async () => {
  const { world, cutOff, pair, master } = await feePool(1_000_00n);
  const outside = await subscribed(world, aMaster(world, 0n), 100_00n);
  await world.service.unassign(outside, aCall());
  world.fees.rules.debt = () => 5_00n;
  const findTerms: Deps["fees"]["findTerms"] = async (...call) => {
    return { ...(await world.deps.fees.findTerms(...call)), database: "lost" };
  };
  const lost = withFees(world, { findTerms });
  master.result(100_00n, { at: before(cutOff(0)) });
  await settle(world);
  const expectNotDecided = async ({ investorLogin }: Pair): Promise<void> => {
    const withdrawal = await holdForWithdrawal(world, investorLogin, 10_00n, {
      operationId: String((withdrawals += 1)),
    });
    await expect(decideWithdrawal(lost, withdrawal, aCall({ withinMs: 1_000 }))).rejects.toMatchObject({
      code: "allocation_in_progress",
      outcome: "not_executed",
    });
    await release(world, withdrawal);
  };
  await expectNotDecided(pair);
  await closeWeek(lost, cutOff(0));
  await expectNotDecided(outside);
  expect(await many(world.deps.pool, sql`select id from fee_decision`)).toEqual([]);
  expect(await many(world.deps.pool, sql`select key from reserve`)).toEqual([]);
  expect(await pairOf(world, pair)).toMatchObject({ earned: 0n, mark: 0n });

  await passTimeTo(world, world.deps.now(), MINUTE_MS);
  await settle(world);
  expect(await withdrawn(world, outside, 10_00n)).toBe(10_00n);
  // The week has taken the debt of the Investor with its own fee.
  expect(await decidedFees(world)).toEqual([
    ["DE", 5_00n],
    ["W", 30_00n],
    ["DE", 5_00n],
  ]);
});
