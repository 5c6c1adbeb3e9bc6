import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { prepare } from "../commands/crystallise.ts";
import { feeChecks } from "../checks/checks.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { listInvestorPayments } from "../queries/payments.ts";
import { readMaster } from "../processes/accounting/read-master.ts";
import { aCall, MASTER, OTHER_MASTER } from "./fee.ts";
import { aLeave, decideLeave } from "./leaving.ts";
import { aPoolInSteps } from "./steps.ts";
import { endWeek, expectToReconcile, paymentsOf, result, runsOf, setRate, settle, type World } from "./world.ts";

const LOGINS = ["9001", "9002", "9003", "9004", "9005"];
const WEEK_START = new Date("2026-01-03T00:00:00Z");
/** No more than the reply itself needs. */
const NO_TIME_MS = 500;

const all = (amount: string) => Object.fromEntries(LOGINS.map((login) => [login, amount]));

async function aPool(): Promise<World> {
  const investors = LOGINS.map((login) => ({ login }));
  return await aPoolInSteps({ holdings: 2, results: 4 }, investors);
}

/** Of five Investors, two are decided when subscription becomes unreachable. */
async function aHalfDecidedWeek(): Promise<World> {
  const world = await aPool();
  for (let deal = 0; deal < 5; deal += 1) result(world, all("+10.00"));
  endWeek(world, all("0.00"));
  const { subscriptions } = world.deps;
  let weeks = 0;
  const lost: typeof subscriptions.readAllocationRows = async (request, context) => {
    if (request.afterNumber === 6n && (weeks += 1) > 1) throw new Error("connection lost");
    return await subscriptions.readAllocationRows(request, context);
  };
  const deps = { ...world.deps, subscriptions: { ...subscriptions, readAllocationRows: lost } };
  await expect(readMaster(deps, MASTER, aCall())).rejects.toThrow("connection lost");
  expect((await paymentsOf(world)).map(({ investor }) => investor)).toEqual(["9001", "9002"]);
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "CALCULATING" }]);
  return world;
}

async function findings({ deps }: World): Promise<readonly unknown[]> {
  const [check] = feeChecks({ ...deps, confirm: confirmsNothing });
  return (await check!.run({ cursor: "", pendingBreaks: [] })).findings;
}

test("while a week is half decided, a withdrawal without time for the rest is refused, and one with time comes after it", async () => {
  const world = await aHalfDecidedWeek();
  const hurried = prepare(world.deps, { masterLogin: MASTER }, aCall("", NO_TIME_MS));
  await expect(hurried).rejects.toMatchObject({ code: "allocation_in_progress", status: "unavailable" });
  expect(await paymentsOf(world)).toHaveLength(2);

  result(world, { 9001: "+1.00" });
  expect(await decideLeave(world)).toEqual({
    pending: "0.30",
    items: [
      ["fee:9001:5001:W:2026-01-10T00:00:00.000Z", "15.00", true],
      ["fee:9001:5001:WD1", "0.30", false],
    ],
  });
  const weekly = (await paymentsOf(world)).filter(({ suffix }) => suffix === "W");
  expect(weekly.map(({ investor, due }) => [investor, due])).toEqual(LOGINS.map((login) => [login, "15.00"]));
  await settle(world);
  expect(await runsOf(world)).toMatchObject([{ kind: "WEEKLY", status: "EXECUTED" }, { kind: "ON_DEMAND" }]);
  await expectToReconcile(world);
});

test("a half decided week delays no withdrawal from another Master, and its executed fees are listed", async () => {
  const world = await aHalfDecidedWeek();
  result(world, { 9005: "+10.00" }, OTHER_MASTER);
  const leave = { key: "other", investorLogin: "9005", masterLogin: OTHER_MASTER };
  expect(await decideLeave(world, leave)).toMatchObject({ pending: "3.00" });

  await payFees(world.deps);
  const { items } = await listInvestorPayments(world.deps, { masterLogin: MASTER, beforeId: 0n, limit: 10 }, aCall());
  const shown = { amount: { minorUnits: 15_00n }, status: "EXECUTED", runStatus: "CALCULATING" };
  expect(items).toMatchObject([shown, shown]);
  expect(await findings(world)).toEqual([]);
});

test("a rate of the past that is set while a week is half decided changes no decided fee, and applies to the others", async () => {
  const world = await aHalfDecidedWeek();
  for (const login of ["9001", "9005"]) {
    await setRate(world, { key: `past:${login}`, login, ratePpm: 100_000, effectiveSince: WEEK_START });
  }
  await settle(world);
  expect((await paymentsOf(world)).map(({ investor, paid }) => [investor, paid])).toEqual([
    ["9001", "15.00"],
    ["9002", "15.00"],
    ["9003", "15.00"],
    ["9004", "15.00"],
    ["9005", "5.00"],
  ]);
  expect(await findings(world)).toEqual([]);
});

test("after a rate of the past an Investor with a long history is folded again in steps, and a leave waits for the last one", async () => {
  const world = await aPool();
  await setRate(world, { key: "free", login: "9001", ratePpm: 0, effectiveSince: WEEK_START });
  const deals = Array.from({ length: 10 }, () => result(world, all("+1.00")));
  endWeek(world, all("0.00"));
  await settle(world);
  const layers = sql`select amount_e8 / 1000000 as cents, earned_from as from from fee_layer order by number`;
  expect(await many(world.deps.pool, layers)).toEqual([{ cents: 10_00n, from: deals[0] }]);

  await setRate(world, { key: "past", login: "9001", ratePpm: 300_000, effectiveSince: deals[4]! });
  result(world, { 9001: "+1.00" });
  expect(await decideLeave(world)).toMatchObject({ pending: "2.10" });
  expect(await findings(world)).toEqual([]);
});

test("a pair that is folded again from the start is no break while results are missing", async () => {
  const world = await aPool();
  await setRate(world, { key: "free", login: "9001", ratePpm: 0, effectiveSince: WEEK_START });
  const deals = Array.from({ length: 10 }, () => result(world, all("+1.00")));
  endWeek(world, all("0.00"));
  await settle(world);
  expect(await findings(world)).toEqual([]);
  await setRate(world, { key: "past", login: "9001", ratePpm: 300_000, effectiveSince: deals[4]! });
  const folded = sql`select folded_number as number from fee_pair where investor_login = '9001'`;
  const leave = { ...aLeave(world), at: world.clock.now };
  for (const number of [0n, 4n, 8n]) {
    expect(await world.deps.queues.crystallising.add(leave)).toEqual({ kind: "folded" });
    expect(await many(world.deps.pool, folded)).toEqual([{ number }]);
    expect(await findings(world)).toEqual([]);
  }
  expect(await many(world.deps.pool, sql`select key from crystallisation`)).toEqual([]);
  expect(await world.deps.queues.crystallising.add(leave)).toEqual({ kind: "decided" });
  expect((await paymentsOf(world)).at(-1)).toMatchObject({ suffix: "WD1", due: "1.80" });
  expect(await findings(world)).toEqual([]);
});
