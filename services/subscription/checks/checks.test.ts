import { beforeEach, expect, test } from "vitest";
import type { Finding } from "#kernel/reconcile/check.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { decide, reviewWithReason } from "../testing/reviews.ts";
import { deposit } from "../testing/funding.ts";
import { corrupt as change } from "#test/support/corrupt.ts";
import { getAccount } from "#test/support/platform-fake/ledger.ts";
import { deliver, type Pair, settle, subscribed, settleAndReconcile } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, aWorld, type World } from "../testing/world.ts";
import { subscriptionChecks } from "./checks.ts";

let world: World;
let masterLogin: string;
let first: Pair;
let second: Pair;

/** A pool of two Investors with an allocated result, an open position, and a deposit that came while it was open. */
beforeEach(async () => {
  world = await aWorld();
  masterLogin = aMaster(world, 0n);
  first = await subscribed(world, masterLogin, 1_000_00n);
  second = await subscribed(world, masterLogin, 333_33n);
  const master = trader(world, masterLogin);
  master.result(100_01n);
  await settle(world);
  const position = master.open();
  master.float(position, 50_00n);
  await deposit(world, second.investorLogin, 66_67n);
  await settleAndReconcile(world);
});

async function findingsOf(name: string, own: World = world): Promise<Finding[]> {
  const check = subscriptionChecks({ ...own.deps, confirm: confirmsNothing }).find((each) => each.name === name);
  return [...(await check!.run({ cursor: "", pendingBreaks: [] })).findings];
}

const summary = async (name: string): Promise<string[]> =>
  (await findingsOf(name)).map(({ key, atRiskMinor }) => `${key} ${atRiskMinor}`);

const corrupt = (text: string) => change(world.deps.pool, text);

test("pool_ledger: consistent books have no break, a corrupted row opens breaks, and its repair closes them", async () => {
  const { pool, log } = world.deps;
  const [check] = subscriptionChecks({ ...world.deps, confirm: confirmsNothing });
  await insertChecks(pool, [check!]);
  const breaks = async () => {
    await runCheck({ pool, log }, check!, undefined);
    const { items, checks } = await listBreaks(pool, { afterId: 0n, limit: 10, withoutChecks: false });
    expect(checks).toMatchObject([{ name: "pool_ledger", error: "" }]);
    return items;
  };
  expect(await breaks()).toEqual([]);
  await corrupt(`update holding set pooled_minor = pooled_minor + 3 where subscription_id = ${first.id}`);
  expect(await breaks()).toMatchObject([
    { key: `master:${masterLogin}`, login: masterLogin, masterLogin, atRisk: { minorUnits: 3n } },
    { key: `pool:${masterLogin}:sums:`, login: masterLogin, masterLogin, atRisk: { minorUnits: 3n } },
    { key: `investor:${first.investorLogin}`, login: first.investorLogin, masterLogin, atRisk: { minorUnits: 3n } },
  ]);
  await corrupt(`update holding set pooled_minor = pooled_minor - 3 where subscription_id = ${first.id}`);
  expect(await breaks()).toEqual([]);
});

test("pool_ledger: a bucket with money that no row explains is a break", async () => {
  await corrupt(
    `update holding set pooled_minor = pooled_minor - 5, reserved_minor = reserved_minor + 5 where subscription_id = ${first.id}`,
  );
  expect(await summary("pool_ledger")).toEqual([
    `pool:${masterLogin}:holding:subscription ${first.id} reserved 5`,
    `pool:${masterLogin}:sums: 5`,
  ]);
  await corrupt(
    `update holding set reserved_minor = reserved_minor - 5, waiting_minor = waiting_minor + 5 where subscription_id = ${first.id}`,
  );
  expect(await summary("pool_ledger")).toEqual([
    `pool:${masterLogin}:holding:subscription ${first.id} waiting 5`,
    `pool:${masterLogin}:sums: 5`,
  ]);
});

test("pool_ledger: a mark that differs from the attributed result, and units that were not issued, are breaks", async () => {
  await corrupt("update pool_position set mark = mark + 1000000::numeric * 1000000000000000000000000");
  expect((await summary("pool_ledger")).map((each) => each.replace(/position \d+/, "position"))).toEqual([
    `pool:${masterLogin}:marks:position 1`,
  ]);
  await corrupt("update pool_position set mark = mark - 1000000::numeric * 1000000000000000000000000");
  await corrupt(`update holding set units = units * 2 where subscription_id = ${first.id}`);
  expect((await findingsOf("pool_ledger")).map(({ key }) => key.split(":")[2])).toEqual(["marks", "sums"]);
});

test("pool_ledger: carries that do not sum to 0, an incomplete allocation and a gap in allocation numbers are breaks", async () => {
  await corrupt(`update holding set carry_e8 = carry_e8 + 1 where subscription_id = ${first.id}`);
  expect(await summary("pool_ledger")).toEqual([`pool:${masterLogin}:carries: 1`, `pool:${masterLogin}:sums: 1`]);
  await corrupt(`update holding set carry_e8 = carry_e8 - 1 where subscription_id = ${first.id}`);
  await corrupt(`update allocation_row set amount_minor = amount_minor - 2 where subscription_id = ${first.id}`);
  expect(await summary("pool_ledger")).toEqual([`pool:${masterLogin}:parts:entry 1 2`]);
  await corrupt("update master_pool set last_allocation = last_allocation + 1");
  expect((await summary("pool_ledger")).at(-1)).toBe(`pool:${masterLogin}:numbers: 1`);
  await corrupt(
    "update master_pool set unallocated_minor = unallocated_minor + 4, own_pooled_minor = own_pooled_minor - 4",
  );
  expect(await summary("pool_ledger")).toContain(`pool:${masterLogin}:unallocated: 4`);
});

test("pool_ledger: a sum of a pool that differs from its holdings is a break", async () => {
  for (const column of [
    "holdings_units",
    "holdings_minor",
    "holdings_carry_e8",
    "unitless_minor",
    "unitless_carry_e8",
    "emptied_holdings",
  ]) {
    await corrupt(`update master_pool set ${column} = ${column} - 1`);
    expect(await summary("pool_ledger")).toEqual([`pool:${masterLogin}:sums: 1`]);
    await corrupt(`update master_pool set ${column} = ${column} + 1`);
  }
  expect(await summary("pool_ledger")).toEqual([]);
});

/** An external balance operation, which all services receive. */
async function moveExternally(login: string, amount: bigint): Promise<void> {
  trader(world, login).external(amount);
  await settle(world);
}

test("external_funds_master: external funds on a Master are a break until an operator acknowledges them", async () => {
  expect(await summary("external_funds_master")).toEqual([]);
  await moveExternally(masterLogin, 30_00n);
  await moveExternally(masterLogin, -10_00n);
  expect(await findingsOf("external_funds_master")).toMatchObject([
    { login: masterLogin, masterLogin: "", atRiskMinor: 20_00n },
  ]);
  expect(await summary("external_funds_investor")).toEqual([]);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
  expect(await summary("external_funds_master")).toEqual([]);
  await moveExternally(masterLogin, 1n);
  expect(await summary("external_funds_master")).toEqual([`master:${masterLogin} 1`]);
});

test("external_funds_master: own capital below zero stays a break after an acknowledgement, until the money is back", async () => {
  await moveExternally(masterLogin, -30_00n);
  await decide(world, await reviewWithReason(world, "external_funds_on_master"), "acknowledge");
  expect(await findingsOf("external_funds_master")).toMatchObject([
    { atRiskMinor: 30_00n, message: expect.stringContaining("lacks 30.00") },
  ]);
  await moveExternally(masterLogin, 30_00n);
  expect(await summary("external_funds_master")).toEqual([]);
});

test("pool_ledger: own capital is part of the marks, carries and balance of its Master, and its waiting flows have records", async () => {
  await moveExternally(masterLogin, 700_00n);
  const [position] = getAccount(world.platform.ledger, masterLogin).positions;
  trader(world, masterLogin).float(position!.positionId, 90_00n);
  await deposit(world, second.investorLogin, 1_00n);
  await settle(world);
  expect(await summary("pool_ledger")).toEqual([]);
  await corrupt("update master_pool set own_units = own_units * 2");
  expect((await findingsOf("pool_ledger")).map(({ key }) => key.split(":")[2])).toEqual(["marks"]);
  await corrupt("update master_pool set own_units = own_units / 2, own_carry_e8 = own_carry_e8 + 3");
  expect(await summary("pool_ledger")).toEqual([`pool:${masterLogin}:carries: 1`]);
  await corrupt("update master_pool set own_carry_e8 = own_carry_e8 - 3, own_pooled_minor = own_pooled_minor + 9");
  expect(await summary("pool_ledger")).toEqual([`master:${masterLogin} 9`]);
  await corrupt("update master_pool set own_pooled_minor = own_pooled_minor - 9, own_unredeemed_minor = 6");
  expect(await summary("pool_ledger")).toEqual([`pool:${masterLogin}:own_flows: 6`]);
});

test("external_funds_investor: external funds on a pooled Investor are a break, also when they take its balance below zero", async () => {
  await moveExternally(first.investorLogin, -900_00n);
  expect(await summary("external_funds_investor")).toEqual([`investor:${first.investorLogin} 90000`]);
  expect(await summary("external_funds_master")).toEqual([]);
  await moveExternally(first.investorLogin, -200_00n);
  expect(await summary("external_funds_investor")).toEqual([`investor:${first.investorLogin} 110000`]);
  expect(await summary("external_funds_master")).toEqual([]);
  await moveExternally(first.investorLogin, 1_100_00n);
  expect([await summary("external_funds_master"), await summary("external_funds_investor")]).toEqual([[], []]);
});

test("mirror_lag: capital that waits for its mirror for more than a minute is a break, unless it waits for the end of a deficit", async () => {
  await deposit(world, first.investorLogin, 40_00n);
  await deliver(world);
  expect(await summary("mirror_lag")).toEqual([]);
  await corrupt("update flow set created_at = created_at - interval '61 seconds'");
  await corrupt("update master_pool set is_in_deficit = true");
  expect(await summary("mirror_lag")).toEqual([]);
  await corrupt("update master_pool set is_in_deficit = false");
  expect(await summary("mirror_lag")).toEqual([`master:${masterLogin} 4000`]);
  await settle(world);
  expect(await summary("mirror_lag")).toEqual([]);
});

test("mirror_lag: capital that has not left names the operation of its unassign", async () => {
  trader(world, masterLogin).closeAll();
  await settle(world);
  const call = aCall();
  await world.service.unassign(first, call);
  await corrupt("update exit_transfer set created_at = created_at - interval '61 seconds'");
  const [late] = await findingsOf("mirror_lag");
  expect(late).toMatchObject({ key: `master:${masterLogin}`, operationIds: [call.commandId] });
  await settle(world);
  expect(await summary("mirror_lag")).toEqual([]);
});

test("subscription_endings: a late exit, a cancelled subscription with money, and an ACTIVE one outside its pool are breaks", async () => {
  trader(world, masterLogin).closeAll();
  await settle(world);
  await world.service.unassign(first, aCall());
  expect(await summary("subscription_endings")).toEqual([]);
  await corrupt("update exit_transfer set created_at = created_at - interval '301 seconds'");
  const [late] = await findingsOf("subscription_endings");
  expect(late).toMatchObject({ key: `subscription:${first.id}`, login: first.investorLogin });
  expect(late?.atRiskMinor).toBeGreaterThan(1_000_00n);
  await settle(world);
  expect(await summary("subscription_endings")).toEqual([]);
  await corrupt(`update holding set outbound_minor = 9 where subscription_id = ${first.id}`);
  expect(await summary("subscription_endings")).toEqual([`subscription:${first.id} 9`]);
  await corrupt(`update holding set outbound_minor = 0 where subscription_id = ${first.id}`);
  await corrupt(`update investor_account set pooled_subscription_id = null where login = '${second.investorLogin}'`);
  expect((await findingsOf("subscription_endings")).map(({ key }) => key)).toEqual([`subscription:${second.id}`]);
});

test("undecided_fees: a week that is not decided for an hour, and a decision that fee does not record, are breaks until they are done", async () => {
  expect(await summary("undecided_fees")).toEqual([]);
  await corrupt(`insert into open_week (master_login, number) values ('${masterLogin}', 1)`);
  await corrupt(`insert into fee_decision (master_login, departure_key, investor_login, period_start, period_end, is_last, tries)
                 values ('${masterLogin}', 'leave', '${first.investorLogin}', now() - interval '1 day', now(), true, 19)`);
  expect(await summary("undecided_fees")).toEqual([]);
  await corrupt("update allocation_entry set created_at = created_at - interval '2 hours'");
  await corrupt("update fee_decision set tries = 20");
  expect(await summary("undecided_fees")).toEqual([`undecided:${masterLogin} 0`, `unrecorded:${masterLogin} 0`]);
  await corrupt("delete from open_week");
  await corrupt("update fee_decision set recorded_at = now()");
  expect(await summary("undecided_fees")).toEqual([]);
});
