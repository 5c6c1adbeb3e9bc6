import { beforeEach, expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { column, execute, sql } from "#kernel/postgres/query.ts";
import { removeOld } from "#kernel/testing/retention.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { subscriptionChecks } from "./checks/checks.ts";
import { subscriptionRules } from "./retention.ts";
import { FEEDS } from "./service.ts";
import { expectBooksToReconcile } from "./testing/books.ts";
import { deposit, requestWithdrawal } from "./testing/funding.ts";
import { type Pair, settle, settleAndReconcile, subscribed } from "./testing/settle.ts";
import { trader } from "./testing/trader.ts";
import { aCall, aMaster, aWorld, type World } from "./testing/world.ts";

const RULES = subscriptionRules(FEEDS, {
  PAMM_RETAIN_EVENTS: 35 * DAY_MS,
  PAMM_RETAIN_BREAKS: 730 * DAY_MS,
  PAMM_RETAIN_TRANSFERS: 180 * DAY_MS,
});

let world: World;
let masterLogin: string;
let first: Pair;
let second: Pair;

/** A pool of two Investors with mirrors and results. */
beforeEach(async () => {
  world = await aWorld();
  masterLogin = aMaster(world, 0n);
  first = await subscribed(world, masterLogin, 1_000_00n);
  second = await subscribed(world, masterLogin, 333_33n);
  for (const minor of [100_01n, -7_77n, 31_13n]) {
    trader(world, masterLogin).result(minor);
    await settle(world);
    await deposit(world, first.investorLogin, 66_67n);
    await settle(world);
  }
});

async function makeOld(days: number): Promise<void> {
  await world.deps.pool.query(
    `update mirror set created_at = created_at - interval '${days} days', closed_at = closed_at - interval '${days} days'`,
  );
  await execute(world.deps.pool, sql`update outbox set published_at = published_at - ${days} * interval '1 day'`);
}

const states = () => column<string>(world.deps.pool, sql`select state from mirror`);

async function findings(): Promise<string[]> {
  const found: string[] = [];
  for (const check of subscriptionChecks({ ...world.deps, confirm: confirmsNothing })) {
    const run = await check.run({ cursor: "", pendingBreaks: [] });
    found.push(...run.findings.map(({ key }) => `${check.name} ${key}`));
  }
  return found;
}

test("closed mirrors are removed with their flows, and no check finds a break, also after the next results", async () => {
  expect((await states()).length).toBeGreaterThan(3);
  await makeOld(181);

  await removeOld(world.deps.pool, RULES);

  expect(await states()).toEqual([]);
  expect(await column(world.deps.pool, sql`select id from flow`)).toEqual([]);
  await expectBooksToReconcile(world);
  expect(await findings()).toEqual([]);
  trader(world, masterLogin).result(12_34n);
  await deposit(world, first.investorLogin, 5_00n);
  await settleAndReconcile(world);
  expect(await findings()).toEqual([]);
});

test("open mirrors stay with their flows at any age, and so do closed ones that are young", async () => {
  await makeOld(179);
  const young = await states();
  await removeOld(world.deps.pool, RULES);
  expect(await states()).toEqual(young);

  await makeOld(10);
  await execute(
    world.deps.pool,
    sql`update mirror set state = 'OPEN', closed_at = null, deal_id = null where id = (select max(id) from mirror)`,
  );
  await execute(world.deps.pool, sql`update retention_rule set removed_before = null`);
  await removeOld(world.deps.pool, RULES);
  expect(await states()).toEqual(["OPEN"]);
  expect(await column(world.deps.pool, sql`select id from flow`)).not.toEqual([]);
});

test("withdrawals that have ended and refused unassigns are removed after 400 days, and a late request for one pays nothing again; unassigns stay", async () => {
  const { pool } = world.deps;
  const call = aCall();
  await requestWithdrawal(world, first.investorLogin, 10_00n, { call });
  await requestWithdrawal(world, first.investorLogin, 5_00n);
  await settle(world);
  world.fees.rules.isStopped = true;
  await expect(world.service.unassign(second, aCall())).rejects.toMatchObject({ code: "safety_stop" });
  world.fees.rules.isStopped = false;
  await world.service.unassign(second, aCall());
  await settle(world);
  const makeOlder = (days: number) =>
    pool.query(
      `update departure set requested_at = requested_at - interval '${days} days', ended_at = ended_at - interval '${days} days',
              deadline_at = deadline_at - interval '${days} days'`,
    );
  const kinds = () => column<string>(pool, sql`select kind from departure order by kind`);
  await makeOlder(399);
  await removeOld(pool, RULES);
  expect(await kinds()).toEqual(["EXIT", "EXIT", "WITHDRAWAL", "WITHDRAWAL"]);

  await makeOlder(2);
  await removeOld(pool, RULES);

  expect(await kinds()).toEqual(["EXIT"]);
  expect(await findings()).toEqual([]);
  const paid = world.platform.deals.length;
  const deadline = new Date(Date.now() - 401 * DAY_MS);
  expect(await requestWithdrawal(world, first.investorLogin, 10_00n, { call, deadline })).toMatchObject({
    state: WithdrawalState.REFUSED,
  });
  expect(world.platform.deals).toHaveLength(paid);
});
