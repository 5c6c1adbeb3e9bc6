import { expect, test, vi } from "vitest";
import { sized } from "#test/support/proof.ts";
import { many, maybeOne, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { PermitState } from "#proto/pamm/platform/v1/platform.ts";
import { balanceOf, enter, openAccount } from "#test/support/platform-fake/ledger.ts";
import { reportBooks } from "../processes/allocate/settle-books.ts";
import { findUnsettledDatabase } from "../store/settled-database.ts";
import { expectBooksToReconcile } from "./books.ts";
import { crashing } from "./crash.ts";
import { CRASH_TEST_MS } from "./crash-at-every-point.ts";
import { aWorldWithHourlyWeeks, before, passTimeTo } from "./hourly-weeks.ts";
import { decide, reviewsOf, reviewWithReason } from "./reviews.ts";
import { deliver, settle, subscribed, aPair, settleAndReconcile } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, anAssignment, aWorld, type World } from "./world.ts";

vi.setConfig({ testTimeout: CRASH_TEST_MS });

let imports = 0;

/** A database that was restored to a time before, and what the platform has executed since: its deals are imported. */
function restored(world: World) {
  const { ledger, state } = world.platform;
  state.permits = PermitState.STOPPED;
  state.generation += 1n;
  const imported = (login: string, kind: MovementKind, amount: bigint, at?: Date) =>
    enter(ledger, login, { kind, amount, key: `imported:${(imports += 1)}`, ...(at && { at }) });
  return {
    deposit(login: string, masterLogin: string, amount: bigint) {
      imported(login, MovementKind.DEPOSIT, amount);
      imported(masterLogin, MovementKind.MIRROR, amount);
    },
    withdrawal(login: string, masterLogin: string, amount: bigint) {
      imported(login, MovementKind.WITHDRAWAL, -amount);
      imported(masterLogin, MovementKind.MIRROR, -amount);
    },
    mirror: (masterLogin: string, amount: bigint) => imported(masterLogin, MovementKind.MIRROR, amount),
    exit: (masterLogin: string, amount: bigint) => imported(masterLogin, MovementKind.EXIT, -amount),
    result: (login: string, amount: bigint, at?: Date) => imported(login, MovementKind.RESULT, amount, at),
    /** An Investor whose assign was lost. */
    assigned(masterLogin: string, amount: bigint): string {
      const login = world.accounts.nextLogin();
      world.accounts.addInvestor(login);
      openAccount(ledger, login, AccountRole.INVESTOR);
      this.deposit(login, masterLogin, amount);
      return login;
    },
    /** Settles while nothing is sent, and then after operators have resumed. */
    async resume() {
      await settleAndReconcile(world);
      expect(world.platform.reports.map(({ service }) => service)).toContain("subscription");
      state.permits = PermitState.GRANTED;
      await settleAndReconcile(world);
    },
  };
}

const resultsOf = ({ platform }: World, login: string): bigint[] =>
  (platform.ledger.accounts.get(login)?.log ?? [])
    .filter(({ kind }) => kind === MovementKind.RESULT)
    .map(({ amount }) => amount?.minorUnits ?? 0n);

async function earnedOf({ deps }: World, login: string): Promise<bigint> {
  const row = await maybeOne<{ earned: bigint }>(
    deps.pool,
    sql`select coalesce(sum(amount_minor), 0)::bigint as earned
        from allocation_row join subscription on subscription.id = subscription_id
        where investor_login = ${login}`,
  );
  return row?.earned ?? 0n;
}

test("what was posted while a deposit was lost stays the division, and the next result is shared by what each has", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(300_00n);
  const { investorLogin: ben } = await subscribed(world, masterLogin, 300_00n);
  const lost = restored(world);
  lost.deposit(ann, masterLogin, 300_00n);
  trader(world, masterLogin).result(300_00n);
  lost.result(ann, 200_00n);
  lost.result(ben, 100_00n);
  await lost.resume();

  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([[200_00n], [100_00n]]);
  expect([await earnedOf(world, ann), await earnedOf(world, ben)]).toEqual([200_00n, 100_00n]);
  trader(world, masterLogin).result(120_00n);
  await settleAndReconcile(world);
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([
    [200_00n, 80_00n],
    [100_00n, 40_00n],
  ]);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(1_320_00n);
});

test("what was posted to an Investor whose assign was lost stays, and its repeated assign moves nothing", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(300_00n);
  const other = aMaster(world);
  const { investorLogin: cat } = await subscribed(world, other, 100_00n);
  const lost = restored(world);
  const ben = lost.assigned(masterLogin, 300_00n);
  trader(world, masterLogin).result(300_00n);
  trader(world, other).result(-10_00n);
  for (const login of [ann, ben]) lost.result(login, 150_00n);
  lost.result(cat, -10_00n);
  await lost.resume();

  expect([resultsOf(world, ann), resultsOf(world, ben), resultsOf(world, cat)]).toEqual([
    [150_00n],
    [150_00n],
    [-10_00n],
  ]);
  await world.service.assign(anAssignment({ masterLogin, investorLogin: ben }), aCall());
  await settle(world);
  expect(balanceOf(world.platform.ledger, masterLogin)).toBe(900_00n);
  trader(world, masterLogin).result(100_00n);
  await settleAndReconcile(world);
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([
    [150_00n, 50_00n],
    [150_00n, 50_00n],
  ]);
});

test("an Investor whose unassign was lost has no part in the results after it", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(300_00n);
  const { investorLogin: ben } = await subscribed(world, masterLogin, 300_00n);
  const lost = restored(world);
  trader(world, masterLogin).result(60_00n);
  lost.result(ann, 30_00n);
  lost.result(ben, 30_00n);
  lost.exit(masterLogin, 330_00n);
  trader(world, masterLogin).result(33_00n);
  lost.result(ann, 33_00n);
  await lost.resume();
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([[30_00n, 33_00n], [30_00n]]);
  await world.service.unassign({ masterLogin, investorLogin: ben }, aCall());
  await settleAndReconcile(world);
  expect([balanceOf(world.platform.ledger, masterLogin), balanceOf(world.platform.ledger, ben)]).toEqual([
    363_00n,
    330_00n,
  ]);
});

test("a posting that a crash has prevented follows after the restore, by the units of the books", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(200_00n);
  const { investorLogin: ben } = await subscribed(world, masterLogin, 100_00n);
  const lost = restored(world);
  for (const result of [30_00n, 60_00n, -3_00n]) trader(world, masterLogin).result(result);
  lost.result(ann, 20_00n);
  lost.result(ben, 10_00n);
  lost.result(ann, 40_00n);
  await settle(world);
  // Before anything is posted again: otherwise what is booked as posted would be posted back.
  expect([await earnedOf(world, ann), await earnedOf(world, ben)]).toEqual([58_00n, 29_00n]);
  await lost.resume();
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([
    [20_00n, 40_00n, -2_00n],
    [10_00n, 19_00n],
  ]);
});

test("nothing is allocated, struck or posted in another database before everything is imported and operators have resumed", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(300_00n);
  restored(world);
  await world.deps.pool.query("update settled_database set database = 'the one before'");
  const { state, reports } = world.platform;
  const isHeld = async () => (await findUnsettledDatabase(world.deps.pool)) !== undefined;
  trader(world, masterLogin).result(30_00n);
  state.isImported = false;
  await settle(world);
  expect([await earnedOf(world, ann), reports, await isHeld()]).toEqual([0n, [], true]);
  state.permits = PermitState.READING;
  state.isImported = true;
  await settle(world);
  expect([await earnedOf(world, ann), reports, await isHeld()]).toEqual([0n, [], true]);
  state.permits = PermitState.STOPPED;
  await settle(world);
  expect([await earnedOf(world, ann), await isHeld()]).toEqual([0n, true]);
  expect(reports).toContainEqual({ service: "subscription", generation: 2n });
  const refused = { code: "safety_stop", outcome: "not_executed" };
  await expect(world.service.unassign({ masterLogin, investorLogin: ann }, aCall())).rejects.toMatchObject(refused);
  state.permits = PermitState.GRANTED;
  await settle(world);
  expect([await earnedOf(world, ann), resultsOf(world, ann), await isHeld()]).toEqual([30_00n, [30_00n], false]);
});

test("what no posting explains is a review, and until it is decided operators cannot resume", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(300_00n);
  const lost = restored(world);
  // Its account was created in the lost time, and is not registered again yet.
  trader(world, masterLogin).result(90_00n);
  lost.mirror(masterLogin, 150_00n);
  lost.result(ann, 60_00n);
  await settleAndReconcile(world);
  expect(world.platform.reports).toEqual([]);
  const review = await reviewWithReason(world, "lost_results");
  expect(review).toMatchObject({ login: masterLogin, actions: ["acknowledge"], amount: { minorUnits: 30_00n } });

  const ben = lost.assigned(masterLogin, 0n);
  lost.result(ben, 30_00n);
  await lost.resume();
  expect(await reviewsOf(world)).toEqual([]);
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([[60_00n], [30_00n]]);
});

test("own capital has what the Investors have not got, under review", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 100_00n, 300_00n);
  const { investorLogin: ann } = await subscribed(world, masterLogin, 300_00n);
  const lost = restored(world);
  lost.deposit(ann, masterLogin, 300_00n);
  trader(world, masterLogin).result(90_00n);
  lost.result(ann, 60_00n);
  await settle(world);
  const review = await reviewWithReason(world, "lost_results");
  expect(review.amount?.minorUnits).toBe(-15_00n);
  await decide(world, review, "acknowledge");
  await lost.resume();
  expect(resultsOf(world, ann)).toEqual([60_00n]);
  trader(world, masterLogin).result(105_00n);
  await settle(world);
  expect(resultsOf(world, ann)).toEqual([60_00n, 70_00n]);
});

test("postings that are imported after operators have resumed are booked too", async () => {
  const { world, masterLogin, investorLogin: ann } = await aPair(300_00n);
  const lost = restored(world);
  lost.deposit(ann, masterLogin, 100_00n);
  await lost.resume();
  world.platform.state.permits = PermitState.STOPPED;
  world.platform.state.generation += 1n;
  const ben = lost.assigned(masterLogin, 300_00n);
  lost.result(ben, 5_00n);
  await lost.resume();
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([[], [5_00n]]);
  await expectBooksToReconcile(world);
});

test("a week that has ended in the lost time is closed with what was posted until then, so its fee is the one that was taken", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  world.fees.rules.ratePpm = 300_000;
  const masterLogin = aMaster(world);
  const { investorLogin: ann } = await subscribed(world, masterLogin, 300_00n);
  const { investorLogin: ben } = await subscribed(world, masterLogin, 300_00n);
  const lost = restored(world);
  lost.deposit(ann, masterLogin, 300_00n);
  trader(world, masterLogin).result(300_00n, { at: before(cutOff(0), 2_000) });
  lost.result(ann, 200_00n, before(cutOff(0), 1_000));
  // The posting of the other one came after the end of the week.
  lost.result(ben, 100_00n, new Date(cutOff(0).getTime() + 1_000));
  trader(world, masterLogin).result(60_00n, { at: new Date(cutOff(0).getTime() + 60_000) });
  for (const [login, amount] of [[ann, 40_00n] as const, [ben, 20_00n] as const]) {
    lost.result(login, amount, new Date(cutOff(0).getTime() + 61_000));
  }
  await passTimeTo(world, cutOff(0), 120_000);
  await lost.resume();
  expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([
    [200_00n, 40_00n],
    [100_00n, 20_00n],
  ]);
  expect(
    await many(
      world.deps.pool,
      sql`select investor_login as login, amount_minor as amount from due_fee order by amount desc`,
    ),
  ).toEqual([
    { login: ann, amount: 60_00n },
    { login: ben, amount: 30_00n },
  ]);
});

test("a crash at any point of the booking loses and repeats nothing", async () => {
  const { world, cutOff } = await aWorldWithHourlyWeeks();
  const masters = [aMaster(world), aMaster(world)];
  const pairs: { masterLogin: string; ann: string; ben: string }[] = [];
  for (const masterLogin of masters) {
    const { investorLogin: ann } = await subscribed(world, masterLogin, 300_00n);
    const { investorLogin: ben } = await subscribed(world, masterLogin, 300_00n);
    pairs.push({ masterLogin, ann, ben });
  }
  const lost = restored(world);
  for (const { masterLogin, ann, ben } of pairs) {
    lost.deposit(ann, masterLogin, 300_00n);
    for (const week of [0, 1]) {
      const at = (ms: number): Date => before(cutOff(week), ms);
      for (const ms of [9_000, 6_000]) {
        trader(world, masterLogin).result(30_00n, { at: at(ms) });
        lost.result(ann, 20_00n, at(ms - 1_000));
        lost.result(ben, 10_00n, at(ms - 1_000));
      }
    }
    const cat = lost.assigned(masterLogin, 100_00n);
    trader(world, masterLogin).result(12_00n, { at: cutOff(1) });
    for (const login of [ann, ben, cat]) lost.result(login, 4_00n, cutOff(1));
  }
  await passTimeTo(world, cutOff(1), 60_000);
  while (await deliver(world));
  let crashes = 0;
  for (let points = 1, isFinished = false; !isFinished; points += sized({ test: 3, proof: 1 })) {
    const { deps, crashed } = crashing(world.deps, points);
    isFinished = await Promise.race([reportBooks(deps).then(() => true), crashed.then(() => false)]);
    if (!isFinished) crashes += 1;
    await expectBooksToReconcile(world);
  }
  expect(crashes).toBeGreaterThan(15);
  await lost.resume();
  expect(await reviewsOf(world)).toEqual([]);
  for (const { ann, ben } of pairs) {
    expect([resultsOf(world, ann), resultsOf(world, ben)]).toEqual([
      [20_00n, 20_00n, 20_00n, 20_00n, 4_00n],
      [10_00n, 10_00n, 10_00n, 10_00n, 4_00n],
    ]);
    expect([await earnedOf(world, ann), await earnedOf(world, ben)]).toEqual([84_00n, 44_00n]);
  }
});
