import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { countFigures } from "#test/support/figures.ts";
import { STRIDE } from "#test/support/proof.ts";
import { balancesOf } from "#test/support/platform-fake/ledger.ts";
import type { Deps } from "../deps.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { crashing } from "./crash.ts";
import { INVESTOR, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT } from "./fee.ts";
import { decideWeeks, requestOf } from "./deciding.ts";
import { aLeave, collectAll, decideLeave } from "./leaving.ts";
import { aPaymentBreak, detectBreaks, resumeAll, appendToLog } from "./safety.ts";
import {
  anInvestor,
  aWeek,
  aWorld,
  debtsOf,
  endWeek,
  expectToReconcile,
  paymentsOf,
  result,
  runsOf,
  settle,
  passTime,
  type World,
} from "./world.ts";

const MAX_POINTS = 400;
/** Each crash point is a crash and a complete run. */
const TIMEOUT_MS = 180_000;

/** The recorded facts that must be equal after a crash at any point. */
async function recordedStateOf(world: World) {
  return {
    payments: await paymentsOf(world),
    runs: await runsOf(world),
    debts: await debtsOf(world),
    balances: balancesOf(world.platform.ledger),
    reviews: await many(world.deps.pool, sql`select reason, state from review_case order by id`),
    // A count, because the ids differ: rolled back transactions have used some.
    returned: world.subscriptions.returned.length,
  };
}

/** Runs `work` with a crash at each point in turn, and compares the result with that of a run without a crash. */
async function crashAtEveryPoint(
  begin: (pool?: Pool) => Promise<World>,
  work: (world: World, deps: Deps) => Promise<unknown>,
): Promise<number> {
  const uncrashed = await begin();
  await work(uncrashed, uncrashed.deps);
  const expected = await recordedStateOf(uncrashed);
  for (let points = 0; points < MAX_POINTS; points += STRIDE) {
    const world = await begin(uncrashed.deps.pool);
    const { deps, crashed } = crashing(world.deps, points);
    const hasCrashed = await Promise.race([crashed.then(() => true), work(world, deps).then(() => false)]);
    if (hasCrashed) {
      await passTime(world);
      await work(world, world.deps);
    }
    expect(await recordedStateOf(world), `crashed at point ${points}`).toEqual(expected);
    await expectToReconcile(world);
    countFigures({ "crashes of a process": hasCrashed ? 1 : 0 });
    if (!hasCrashed) return points;
  }
  throw new Error("The run did not end without a crash.");
}

/** A week with a paid fee, a reduced fee, a refused fee and a debt to another Master. */
async function aWeekOfThree(pool?: Pool): Promise<World> {
  const world = await aWorld(pool);
  for (const login of ["9001", "9002", "9003"]) await anInvestor(world, { login, deposit: "1000.00" });
  world.platform.rules.refuse = () => "absent";
  aWeek(world, { 9001: "+50.00" }, OTHER_MASTER);
  await settle(world);
  world.platform.rules.refuse = ({ legs }) => (legs[0]?.login === "9003" ? "insufficient_funds" : undefined);
  world.subscriptions.floors.set("9002", 1_090_00n);
  result(world, { 9001: "+100.00", 9002: "+100.00", 9003: "+100.00" });
  endWeek(world, { 9001: "-10.00", 9002: "0.00", 9003: "0.00" });
  return world;
}

test(
  "a week that is recorded in two pages has one run, and the same result after a crash at any point",
  async () => {
    const inPages = async (pool?: Pool) => ({ ...(await aWeekOfThree(pool)), investorsPerPage: 2 });
    expect(await crashAtEveryPoint(inPages, settle)).toBeGreaterThan(30);
    const world = await inPages();
    await settle(world);
    expect((await paymentsOf(world)).map(({ investor, paid }) => [investor, paid])).toEqual([
      ["9001", "0.00"],
      ["9001", "15.00"],
      ["9001", "27.00"],
      ["9002", "10.00"],
      ["9003", "0.00"],
    ]);
    expect(await runsOf(world)).toMatchObject([{ status: "FAILED" }, { status: "PARTIALLY_EXECUTED" }]);
  },
  TIMEOUT_MS,
);

async function aWorldBeforeWithdrawal(pool?: Pool): Promise<World> {
  const world = await aWeekOfThree(pool);
  await anInvestor(world, { deposit: "1150.00" });
  result(world, { [INVESTOR]: "+40.00" });
  world.platform.rules.refuse = ({ legs }) => (legs[1]?.login === OTHER_PAYMENT_ACCOUNT ? "absent" : undefined);
  world.platform.rules.refusesCredit = ({ key }) => key.endsWith(":WD1");
  await decideWeeks(world);
  await requestOf(world, world.deps, aLeave());
  return world;
}

test(
  "a withdrawal pays the same fees after a crash at any point, and those whose credit is refused after it has ended become debt",
  async () => {
    const leave = async (world: World, deps: Deps): Promise<void> => {
      await decideLeave(world, {}, deps);
      await collectAll(world, "withdrawal:1", deps);
      await passTime(world);
      await settle(world, deps);
    };
    expect(await crashAtEveryPoint(aWorldBeforeWithdrawal, leave)).toBeGreaterThan(30);
  },
  TIMEOUT_MS,
);

/** The same week; when a break of the payment account is found, one payment has no answer. */
async function aStoppedWeek(pool?: Pool): Promise<World> {
  const world = await aWeekOfThree(pool);
  // The first scan, so that later log entries are new.
  await detectBreaks(world.deps);
  await decideWeeks(world);
  world.platform.rules.isBusy = ({ legs }) => legs[0]?.login !== "9001";
  world.platform.rules.losesAnswer = () => true;
  await payFees(world.deps);
  world.platform.rules.losesAnswer = () => false;
  world.platform.rules.isBusy = () => false;
  world.platform.breaks.push(aPaymentBreak(1n));
  appendToLog(world, { reason: "unmatched_deal", dealId: 4_712n });
  return world;
}

test(
  "each fee of a stopped and resumed Master is paid once after a crash at any point",
  async () => {
    const stopAndResume = async (world: World, deps: Deps): Promise<void> => {
      await detectBreaks(deps);
      await passTime(world);
      await settle(world, deps);
      await resumeAll(world, deps);
      await passTime(world);
      await settle(world, deps);
    };
    expect(await crashAtEveryPoint(aStoppedWeek, stopAndResume)).toBeGreaterThan(60);
  },
  TIMEOUT_MS,
);

test("concurrent processes pay each fee once", async () => {
  const world = await aWorld();
  const logins = Array.from({ length: 12 }, (_, index) => String(9_001 + index));
  for (const login of logins) await anInvestor(world, { login, deposit: "100.00" });
  const all = (amount: string) => Object.fromEntries(logins.map((login) => [login, amount]));
  for (let week = 0; week < 2; week += 1) {
    result(world, all("+10.00"));
    endWeek(world, all("0.00"));
  }
  await Promise.all([1, 2, 3].map(() => settle(world)));
  await passTime(world);
  await settle(world);
  const payments = await paymentsOf(world);
  expect(payments).toHaveLength(24);
  expect(payments.every(({ status, paid }) => status === "EXECUTED" && paid === "3.00")).toBe(true);
  expect(await runsOf(world)).toMatchObject([{ status: "EXECUTED" }, { status: "EXECUTED" }]);
  await expectToReconcile(world);
});

test("an open payment of one week is never collected before that of an earlier week", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "100.00" });
  aWeek(world, { [INVESTOR]: "+100.00" });
  aWeek(world, { [INVESTOR]: "+10.00" });
  const requested: string[] = [];
  world.platform.rules.isBusy = ({ key }) => requested.push(key) < 3;
  await settle(world);
  for (let wait = 0; wait < 3; wait += 1) {
    await passTime(world);
    await settle(world);
  }
  const weekly = (day: number) => `fee:9001:5001:W:2026-01-${day}T00:00:00.000Z`;
  expect(requested).toEqual([weekly(10), weekly(10), weekly(10), weekly(17)]);
  expect((await paymentsOf(world)).map(({ paid }) => paid)).toEqual(["30.00", "3.00"]);
  expect(await decideLeave(world)).toEqual({ pending: "0.00", items: [] });
});
