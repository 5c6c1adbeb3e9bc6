import { beforeEach, expect, test } from "vitest";
import { findingsOf } from "../testing/ledger.ts";
import { passCursor, settledCursor } from "#kernel/testing/walk.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { corrupt as change } from "#test/support/corrupt.ts";
import { type Pair, settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anAssignment, aWorld, passTime, type World } from "../testing/world.ts";
import { earned } from "./find-pairs.ts";

let world: World;
let masterLogin: string;
let investor: Pair;
let key: string;

/** Two weeks of two Investors, of which each has paid a fee for both. */
beforeEach(async () => {
  world = await aWorld({ week: { anchor: new Date(Date.now() + HOUR_MS / 2), periodMs: HOUR_MS } });
  world.fees.rules.ratePpm = 300_000;
  masterLogin = aMaster(world, 0n);
  investor = await subscribed(world, masterLogin, 1_000_00n);
  await subscribed(world, masterLogin, 1_000_00n);
  key = `pair:${investor.investorLogin}/${masterLogin}`;
  for (const result of [100_00n, 60_00n]) {
    trader(world, masterLogin).result(result);
    await settle(world);
    await passTime(world, HOUR_MS);
    await settle(world);
  }
  // Records what was compared.
  await findings();
});

/** By the pass through all pairs, which compares each from the start. */
async function findings(): Promise<string[]> {
  const run = await earned(world.deps).run({ cursor: passCursor("pair"), pendingBreaks: [] });
  return [...run.findings].map(({ key: found, atRiskMinor }) => `${found} ${atRiskMinor}`);
}

const corrupt = (text: string) => change(world.deps.pool, text);
const ofPair = () => `where investor_login = '${investor.investorLogin}' and master_login = '${masterLogin}'`;
const changePart = (amount: bigint) =>
  corrupt(
    `update allocation_row set amount_minor = amount_minor + ${amount} where subscription_id = ${investor.id} and number = 1`,
  );

test("a decreased high-water mark is found, also when the layers match it", async () => {
  // As if a fee were returned and charged again: only the recorded mark differs.
  await corrupt(`update pair set mark_e8 = mark_e8 - 10000000 ${ofPair()}`);
  await corrupt(
    `insert into layer values ('${masterLogin}', '${investor.investorLogin}', 1, 10000000, '2026-01-01', '2026-01-01')`,
  );
  const [found] = await findingsOf(earned(world.deps));
  expect(found).toMatchObject({ key, masterLogin, atRiskMinor: 10n, message: expect.stringContaining("decreased") });
  await corrupt(`update pair set mark_e8 = mark_e8 + 10000000 ${ofPair()}`);
  expect(await findings()).toEqual([`${key} 10`]);
  await corrupt(`delete from layer ${ofPair()}`);
  expect(await findings()).toEqual([]);
});

test("layers that do not fill the interval from the mark to what was earned are found", async () => {
  await corrupt(
    `insert into layer values ('${masterLogin}', '${investor.investorLogin}', 9, 3000000, '2026-01-01', '2026-01-01')`,
  );
  expect(await findings()).toEqual([`${key} 3`]);
  await corrupt(`delete from layer ${ofPair()} and number = 9`);
  expect(await findings()).toEqual([]);
});

test("a result that is not the sum of its parts is found, wherever they differ", async () => {
  await corrupt(`update pair set earned_minor = earned_minor - 5 ${ofPair()}`);
  expect(await findings()).toEqual([`${key} 5`]);
  await corrupt(`update pair set earned_minor = earned_minor + 5 ${ofPair()}`);
  await changePart(-7n);
  expect(await findings()).toEqual([`${key} 7`]);
  await changePart(7n);
  expect(await findings()).toEqual([]);
});

test("results after the folded entry do not count", async () => {
  trader(world, masterLogin).result(40_00n);
  await settle(world);
  expect(await findings()).toEqual([]);
  await corrupt(`update pair set folded_number = folded_number + 2 ${ofPair()}`);
  expect(await findings()).toEqual([`${key} 2000`]);
});

test("results of an earlier subscription to the Master count", async () => {
  const { service } = world;
  await service.unassign(investor, aCall());
  await settle(world);
  await service.assign(anAssignment(investor), aCall());
  await settle(world);
  trader(world, masterLogin).result(200_00n);
  await settle(world);
  await passTime(world, HOUR_MS);
  await settle(world);
  const [{ earned: now }] = (await world.deps.pool.query(`select earned_minor as earned from pair ${ofPair()}`)).rows;
  expect(now).toBeGreaterThan(80_00n);
  expect(await findings()).toEqual([]);
  await changePart(-7n);
  expect(await findings()).toEqual([`${key} 7`]);
});

test("a pair that has changed is compared from where it was compared last, one with a break from the start", async () => {
  const check = earned(world.deps);
  let cursor = "";
  const run = async (broken: readonly string[] = []): Promise<string[]> => {
    const pendingBreaks = broken.map((each) => ({ key: each, login: "" }));
    const { findings: found, nextCursor } = await check.run({ cursor, pendingBreaks });
    cursor = nextCursor;
    return found.map((each) => each.key);
  };
  const runSettled = async (broken: readonly string[] = []): Promise<string[]> => {
    await run(broken);
    cursor = settledCursor(cursor);
    return await run(broken);
  };
  const touch = (what = "") => corrupt(`update pair set ${what} change_id = nextval('pair_change') ${ofPair()}`);
  expect(await runSettled()).toEqual([]);
  const compared = sql`select folded_number, earned_minor from reconciliation_mark order by investor_login`;
  const pairs = sql`select folded_number, earned_minor from pair order by investor_login`;
  expect(await many(world.deps.pool, compared)).toEqual(await many(world.deps.pool, pairs));

  await changePart(-7n);
  await touch();
  expect(await run()).toEqual([]);
  cursor = passCursor("pair");
  expect(await run()).toEqual([key]);
  await touch();
  expect(await runSettled([key])).toEqual([key]);
  await changePart(7n);
  expect(await run([key])).toEqual([]);

  await touch("earned_minor = earned_minor - 1,");
  expect(await runSettled()).toEqual([key]);
  await changePart(-1n);
  expect(await run([key])).toEqual([]);
  await touch();
  expect(await runSettled()).toEqual([]);
});
