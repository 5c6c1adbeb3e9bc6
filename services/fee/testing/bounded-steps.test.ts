import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { setBalance } from "#test/support/platform-fake/ledger.ts";
import { readMaster } from "../processes/accounting/read-master.ts";
import { aCall, MASTER } from "./fee.ts";
import { type MeasuredTransaction, measuredPool } from "./transactions.ts";
import { aWorld, endWeek, result, type World } from "./world.ts";

const HOLDINGS = 1_000;
const WEEKS = 12;
const DEALS_A_WEEK = 5;
/** Of a transaction: the Investors of a step with their pairs, layers, terms and payments, and the results that it adds. */
const MAX_ROWS = 20_000;
/** Work of the last weeks beside that of the first ones. */
const FLAT = 1.1;

const LOGINS = Array.from({ length: HOLDINGS }, (_, index) => String(10_001 + index));
/** Every other Investor has a rate of 0, so its profit is never charged. */
const isFree = (login: string): boolean => Number(login) % 2 === 0;

const all = (amount: string) => Object.fromEntries(LOGINS.map((login) => [login, amount]));

async function addTerms(world: World): Promise<void> {
  await execute(
    world.deps.pool,
    sql`insert into fee_configuration (investor_login, investor_id, created_at, updated_at)
        select login, login::bigint, timestamptz '2026-01-03', timestamptz '2026-01-03' from unnest(${LOGINS}::text[]) as login`,
  );
  await addVersions(world, LOGINS, new Date("2026-01-03"), (login) => (isFree(login) ? 0 : 300_000));
}

async function addVersions(
  world: World,
  logins: readonly string[],
  from: Date,
  rateOf: (login: string) => number,
): Promise<void> {
  await execute(
    world.deps.pool,
    sql`insert into fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
        select login, login || ${from.toISOString()}, ppm, ${from}, true, ${from}, ${from}
        from unnest(${logins}::text[], ${logins.map(rateOf)}::integer[]) as terms (login, ppm)`,
  );
}

async function aWeek(world: World): Promise<MeasuredTransaction[]> {
  for (let deal = 0; deal < DEALS_A_WEEK; deal += 1) result(world, all("+1.00"));
  endWeek(world, all("0.00"));
  const ended: MeasuredTransaction[] = [];
  await readMaster({ ...world.deps, pool: measuredPool(world.deps.pool, ended) }, MASTER, aCall("", 60_000));
  return ended;
}

function rowsOf(transactions: readonly MeasuredTransaction[]): number {
  return transactions.reduce((sum, { rows }) => sum + rows, 0);
}

test("the transactions of a week are bounded, its work does not grow with the history, and a bulk of rates of the past is folded in steps", async () => {
  const world = await aWorld();
  for (const login of LOGINS) setBalance(world.platform.ledger, login, 0n);
  await addTerms(world);
  const weeks: MeasuredTransaction[][] = [];
  for (let week = 0; week < WEEKS; week += 1) weeks.push(await aWeek(world));

  expect(Math.max(...weeks.flat().map(({ rows }) => rows))).toBeLessThan(MAX_ROWS);
  // In the first week no pair exists yet.
  const [, second = [], third = []] = weeks;
  expect(rowsOf(weeks.at(-1) ?? [])).toBeLessThan(rowsOf(second) * FLAT);
  expect(weeks.at(-1)?.length).toBe(third.length);
  const layers = sql`select count(*)::integer as layers, count(distinct investor_login)::integer as pairs from fee_layer`;
  expect(await many(world.deps.pool, layers)).toEqual([{ layers: HOLDINGS / 2, pairs: HOLDINGS / 2 }]);

  // Half of the Investors have a rate from the middle of the history on: their 60 results each are added again.
  const middle = new Date("2026-02-14");
  await addVersions(world, LOGINS.filter(isFree), middle, () => 100_000);
  const refolded = await aWeek(world);
  expect(Math.max(...refolded.map(({ rows }) => rows))).toBeLessThan(MAX_ROWS);
  expect(refolded.length).toBeGreaterThan((weeks.at(-1)?.length ?? 0) + 2);
  const due = sql`select due_minor as due, count(*)::integer as count from fee_payment where created_at >= ${world.clock.now} group by 1 order by 1`;
  // 35 results of 1.00 since then at ten per cent, and the five of a week at thirty.
  expect(await many(world.deps.pool, due)).toEqual([
    { due: 1_50n, count: HOLDINGS / 2 },
    { due: 3_50n, count: HOLDINGS / 2 },
  ]);
});
