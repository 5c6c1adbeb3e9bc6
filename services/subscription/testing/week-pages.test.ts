import { expect, test, vi } from "vitest";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { many, matchesRow, one, sql } from "#kernel/postgres/query.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { decideWeeks, recordDecisions } from "../jobs/decide-weeks.ts";
import { closeWeeks } from "../jobs/mark-masters.ts";
import { decideWeekPage } from "../processes/fees/decide-week.ts";
import { jobContext } from "../processes/deadlines.ts";
import { RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { countFigures } from "#test/support/figures.ts";
import type { Deps } from "../deps.ts";
import { type OpenWeek, weekQueue } from "../store/open-weeks.ts";
import { addHoldings } from "./add-holdings.ts";
import { crashing } from "./crash.ts";
import { CRASH_TEST_MS } from "./crash-at-every-point.ts";
import { STRIDE } from "#test/support/proof.ts";
import { completeWithdrawal, decideWithdrawal, holdForWithdrawal, release } from "./funding.ts";
import { aWorldWithHourlyWeeks, before, passTimeTo } from "./hourly-weeks.ts";
import { deliver, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, passTime, withFees, type World } from "./world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

const INVESTORS = 250;

/** A closed week with two pages of Investors, each with a profit of 1.00, of which 0.30 are due. The first and the last one have accounts. */
async function anOpenWeek() {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  world.fees.rules.ratePpm = 300_000;
  const masterLogin = aMaster(world, 0n);
  const first = await subscribed(world, masterLogin, 100_00n);
  await addHoldings(world, first.id, INVESTORS - 2);
  const last = await subscribed(world, masterLogin, 100_00n);
  await closeWeekWithProfit(world, masterLogin, cutOff(0));
  expect(await openWeeks(world)).toEqual([{ number: 2n, decided: 0n }]);
  return { world, cutOff, masterLogin, first, last };
}

async function closeWeekWithProfit(world: World, masterLogin: string, cutOff: Date): Promise<void> {
  trader(world, masterLogin).result(250_00n, { at: before(cutOff) });
  await deliver(world);
  await passTimeTo(world, cutOff);
  await allocateResults(world.deps);
  await closeWeeks(world.deps);
}

async function openWeeks({ deps }: World) {
  return await many(deps.pool, sql`select number, decided_subscription_id as decided from open_week order by number`);
}

async function claimWeek({ deps }: World): Promise<OpenWeek> {
  const [week] = await weekQueue.claim(deps.pool, 1);
  if (week === undefined) throw new Error("no week is due");
  return week;
}

async function isUnrecorded({ deps }: World): Promise<boolean> {
  return await matchesRow(deps.pool, sql`select from fee_decision where recorded_at is null`);
}

function textOf(page: RecordFeesRequest): string {
  return Buffer.from(RecordFeesRequest.encode(page).finish()).toString("base64");
}

/** In each of the weeks up to one each Investor has its fee of 0.30 once, and fee has each page, the last one last. */
async function expectDecidedOnce(world: World, week = 0): Promise<void> {
  const weeks = BigInt(week + 1);
  expect(await openWeeks(world)).toEqual([]);
  const fees = sql`
    select count(*)::int as count, count(distinct due_fee.investor_login)::int as investors, sum(amount_minor)::int as total
    from due_fee join fee_decision on id = decision_id
    group by period_end`;
  const once = { count: INVESTORS, investors: INVESTORS, total: INVESTORS * 30 };
  expect(await many(world.deps.pool, fees)).toEqual(Array.from({ length: week + 1 }, () => once));
  const pairs = sql`
    select folded_number as number, earned_minor as earned, mark_e8 as mark, count(*)::int as pairs
    from pair group by 1, 2, 3`;
  const pair = { number: 2n * weeks, earned: weeks * 1_00n, mark: weeks * 1_00_000_000n, pairs: INVESTORS };
  expect(await many(world.deps.pool, pairs)).toEqual([pair]);
  expect(await isUnrecorded(world)).toBe(false);
  const pages = [...new Map(world.fees.weeks.map((page) => [textOf(page), page])).values()];
  expect(pages.slice(-2).map(({ investors, isLast }) => [investors.length, isLast])).toEqual([
    [200, false],
    [50, true],
  ]);
  expect(pages).toHaveLength(2 * (week + 1));
}

/** Decides and records the first page alone. */
async function decideFirstPage(world: World): Promise<void> {
  let asked = 0;
  const findTerms: Deps["fees"]["findTerms"] = async (request, context) => {
    if ((asked += 1) > 1) throw new Error("fee is unreachable");
    return await world.deps.fees.findTerms(request, context);
  };
  await decideWeeks(withFees(world, { findTerms }).deps);
  expect(world.fees.weeks.map(({ investors, isLast }) => [investors.length, isLast])).toEqual([[200, false]]);
}

test("a week of 250 Investors waits while the fees of its Master are stopped, then is decided in two pages, and with it a withdrawal that waits", async () => {
  const { world, last } = await anOpenWeek();
  world.fees.rules.isStopped = true;
  expect(await decideWeeks(world.deps)).toBe(true);
  expect(await decideWeeks(world.deps)).toBe(false);
  const reason = await many(world.deps.pool, sql`select reason from open_week`);
  expect(reason).toEqual([{ reason: expect.stringContaining("suspended") }]);
  world.fees.rules.isStopped = false;
  await passTime(world, 5_000);
  const deciding = decideWithdrawal(world, await holdForWithdrawal(world, last.investorLogin, 9_999_00n));
  expect(await decideWeeks(world.deps)).toBe(true);
  expect(world.fees.weeks.map(({ investors, isLast }) => [investors.length, isLast])).toEqual([
    [200, false],
    [50, true],
  ]);
  await expect(deciding).resolves.toMatchObject({ effective: 100_70n });
  expect(await openWeeks(world)).toEqual([]);
  expect(await decideWeeks(world.deps)).toBe(false);
});

test("a page that was decided by another replica meanwhile is not decided again", async () => {
  const { world } = await anOpenWeek();
  world.fees.rules.debt = () => 5_00n;
  const week = await claimWeek(world);
  const findTerms: Deps["fees"]["findTerms"] = async (request, context) => {
    const terms = await world.deps.fees.findTerms(request, context);
    await decideWeekPage(world.deps, week, jobContext());
    return terms;
  };
  expect(await decideWeekPage(withFees(world, { findTerms }).deps, week, jobContext())).toBe("more");
  const fees = sql`select kind, count(*)::int as fees from due_fee group by kind order by kind`;
  expect(await many(world.deps.pool, fees)).toEqual([
    { kind: "PF", fees: 200 },
    { kind: "PF_DEBT", fees: 200 },
  ]);
});

test("the job that records what is left sends the pages of a week in their sequence", async () => {
  const { world } = await anOpenWeek();
  const week = await claimWeek(world);
  while ((await decideWeekPage(world.deps, week, jobContext())) !== "end");
  await passTime(world, 10_000);
  // Each run claims the oldest page alone.
  for (let pages = 1; pages <= 2; pages += 1) {
    await recordDecisions(world.deps);
    expect(world.fees.weeks).toHaveLength(pages);
  }
  await expectDecidedOnce(world);
});

test("an Investor whose fee is decided can leave while others of the week wait for theirs, and the others cannot", async () => {
  const { world, first, last } = await anOpenWeek();
  await decideFirstPage(world);
  const early = await holdForWithdrawal(world, first.investorLogin, 9_999_00n);
  expect(await decideWithdrawal(world, early)).toMatchObject({
    before: 100_70n,
    pending: 0n,
    effective: 100_70n,
  });
  await completeWithdrawal(world, early);
  const late = await holdForWithdrawal(world, last.investorLogin, 9_999_00n);
  await expect(decideWithdrawal(world, late, aCall({ withinMs: 1_000 }))).rejects.toMatchObject({
    code: "allocation_in_progress",
    outcome: "not_executed",
  });
  await release(world, late);
  await passTime(world, 5_000);
  await decideWeeks(world.deps);
  await expectDecidedOnce(world);
  const again = await holdForWithdrawal(world, last.investorLogin, 9_999_00n, { operationId: "again" });
  expect(await decideWithdrawal(world, again)).toMatchObject({ effective: 100_70n });
});

test("results that are allocated between two pages do not count in the week", async () => {
  const { world, masterLogin, last } = await anOpenWeek();
  await decideFirstPage(world);
  trader(world, masterLogin).result(500_00n);
  await deliver(world);
  await allocateResults(world.deps);
  expect(await one(world.deps.pool, sql`select last_allocation as last from master_pool`)).toEqual({ last: 3n });
  await passTime(world, 5_000);
  await decideWeeks(world.deps);
  await expectDecidedOnce(world);
  const withdrawal = await holdForWithdrawal(world, last.investorLogin, 9_999_00n);
  expect(await decideWithdrawal(world, withdrawal)).toMatchObject({ before: 102_70n, pending: 60n });
});

test("the weeks of a Master are decided one after the other", async () => {
  const { world, cutOff, masterLogin } = await anOpenWeek();
  trader(world, masterLogin).result(500_00n, { at: before(cutOff(1)) });
  await deliver(world);
  await passTimeTo(world, cutOff(1));
  await allocateResults(world.deps);
  await closeWeeks(world.deps);
  expect(await openWeeks(world)).toHaveLength(2);
  for (let runs = 0; runs < 2; runs += 1) expect(await decideWeeks(world.deps)).toBe(true);
  expect(await openWeeks(world)).toEqual([]);
  expect(world.fees.weeks.map(({ periodEnd, investors }) => [periodEnd, investors[0]?.due[0]?.amountMinor])).toEqual([
    ...[1, 2].map(() => [cutOff(0), 30n]),
    ...[1, 2].map(() => [cutOff(1), 60n]),
  ]);
});

test("a weekly fee that is recorded after the terms were asked for is counted before its Investor leaves", async () => {
  const { world, first } = await anOpenWeek();
  const recordFees: Deps["fees"]["recordFees"] = () => Promise.reject(new Error("fee is unreachable"));
  await decideWeeks(withFees(world, { recordFees }).deps);
  await passTime(world, 10_000);
  let asked = 0;
  const findTerms: Deps["fees"]["findTerms"] = async (request, context) => {
    asked += 1;
    const terms = await world.deps.fees.findTerms(request, context);
    if (asked === 1) await recordDecisions(world.deps);
    return terms;
  };
  const withdrawal = await holdForWithdrawal(world, first.investorLogin, 9_999_00n);
  expect(await decideWithdrawal(withFees(world, { findTerms }), withdrawal)).toMatchObject({
    before: 100_70n,
    effective: 100_70n,
  });
  expect(asked).toBe(2);
});

test("a week whose job crashes at any point is decided and recorded once, page by page", async () => {
  const { world, cutOff, masterLogin } = await anOpenWeek();
  const run = async (deps: Deps): Promise<void> => {
    for (let isMore = true; isMore; isMore = (await openWeeks(world)).length > 0) await decideWeeks(deps);
  };
  let weeks = 0;
  for (let hasCrashed = true; hasCrashed; weeks += 1) {
    if (weeks > 0) await closeWeekWithProfit(world, masterLogin, cutOff(weeks));
    const { deps, crashed } = crashing(world.deps, weeks * STRIDE);
    hasCrashed = await Promise.race([run(deps).then(() => false), crashed.then(() => true)]);
    await passTime(world, MINUTE_MS);
    while ((await decideWeeks(world.deps)) || (await isUnrecorded(world))) await recordDecisions(world.deps);
    await expectDecidedOnce(world, weeks);
  }
  countFigures({ "crashes of a process": weeks - 1 });
  expect(weeks * STRIDE).toBeGreaterThan(30);
});
