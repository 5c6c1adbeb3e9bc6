import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { DAY_MS, HOUR_MS } from "#kernel/values/duration.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf as ledgerBalance, balancesOf, enter, setBalance } from "#test/support/platform-fake/ledger.ts";
import { configure } from "../commands/configure.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { feeDeps, INVESTOR, MASTER, type OtherServices, otherServicesAt } from "./fee.ts";
import { cents } from "#kernel/testing/cents.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { decideWeeks, type Deciding } from "./deciding.ts";
import { allocate, closeWeek, type Parts } from "./subscription-fake.ts";

const FIRST_WEEK = Date.UTC(2026, 0, 3);
const WEEK_MS = 7 * DAY_MS;
/** Longer than every back-off and every claim. */
const LONG_MS = 60_000;
/** More runs than the fees of any test need. */
const MAX_RUNS = 20;

export type World = OtherServices &
  Deciding & {
    /** The index of the open week: 0, 1, 2 ... */
    week: number;
  };

const TRUNCATE = `
  truncate fee_configuration, fee_version, fee_version_ended, fee_master, fee_prepaid, fee_run,
           fee_payment, review_case, review_event, handled_break, payment_account
  restart identity`;

/** The fee service with fakes of the other services, at the start of a week. Truncates the tables of a provided database. */
export async function aWorld(pool?: Pool): Promise<World> {
  if (pool !== undefined) await corrupt(pool, TRUNCATE);
  const clock = { now: new Date(FIRST_WEEK) };
  const others = otherServicesAt(() => clock.now);
  const deps = await feeDeps(() => clock.now, others, pool);
  return { ...others, deps, clock, week: 0, investorsPerPage: 500 };
}

export async function anInvestor(world: World, { login = INVESTOR, deposit = "0.00" } = {}): Promise<string> {
  setBalance(world.platform.ledger, login, cents(deposit));
  const terms = { ratePpm: 300_000, enabled: true, effectiveSince: new Date(FIRST_WEEK) };
  const request = { key: `subscription:${login}`, investorId: BigInt(login), investorLogin: login, ...terms };
  await configure(world.deps, request);
  return login;
}

/** The Investor owes a fee to a Master that was refused: by default 30.00 of the first week. */
export async function owe(
  pool: Pool,
  investorLogin: string,
  masterLogin: string,
  { amount = 30_00n, since = new Date(FIRST_WEEK) } = {},
): Promise<void> {
  await execute(
    pool,
    sql`with run as (
          insert into fee_run (master_login, kind, key, period_start, period_end, created_at)
          values (${masterLogin}, 'ON_DEMAND', ${randomUUID()}, ${new Date(since.getTime() - 1)}, ${since}, ${since})
          returning id, key
        )
        insert into fee_payment
          (run_id, master_login, payment_account_login, investor_id, investor_login, kind, suffix, is_weekly, due_minor, owed_since,
           status, next_try_at, key, key_hash, created_at)
        select id, ${masterLogin}, '0', 17, ${investorLogin}, 'PF', 'W', true, ${amount}, ${since}, 'DEFERRED', ${since}, key, key, ${since}
        from run`,
  );
}

/** The Master realises a result an hour after the previous one; it is posted at once. */
export function result(world: World, parts: Readonly<Record<string, string>>, masterLogin = MASTER): void {
  world.clock.now = new Date(world.clock.now.getTime() + HOUR_MS);
  const amounts = inCents(parts);
  allocate(world.subscriptions, masterLogin, amounts);
  for (const [login, amount] of Object.entries(amounts)) {
    enter(world.platform.ledger, login, { kind: MovementKind.RESULT, amount });
  }
}

/** A week with one result, at whose end the Master is flat. */
export function aWeek(world: World, parts: Readonly<Record<string, string>>, masterLogin = MASTER): void {
  result(world, parts, masterLogin);
  const flat = Object.fromEntries(Object.keys(parts).map((login) => [login, "0.00"]));
  endWeek(world, flat, masterLogin);
}

/** Closes the week with the floating shares of all Investors of the pool. */
export function endWeek(world: World, floating: Readonly<Record<string, string>>, masterLogin = MASTER): void {
  const periodStart = new Date(FIRST_WEEK + world.week * WEEK_MS);
  const cutOff = new Date(FIRST_WEEK + (world.week + 1) * WEEK_MS);
  closeWeek(world.subscriptions, { masterLogin, periodStart, cutOff }, inCents(floating));
  world.week += 1;
  world.clock.now = new Date(cutOff.getTime() + 5_000);
}

/** Decides closed weeks and pays due fees, until a run pays nothing. */
export async function settle(world: World, deps = world.deps): Promise<void> {
  for (let runs = 0; runs < MAX_RUNS; runs += 1) {
    await decideWeeks(world, deps);
    if (!(await payFees(deps))) return;
  }
  throw new Error("Fees are still being paid after the last run.");
}

/** Advances the clock beyond all claims and back-offs. */
export async function passTime({ clock, deps: { pool } }: World): Promise<void> {
  clock.now = new Date(clock.now.getTime() + LONG_MS);
  await pool.query(`update fee_payment set next_try_at = next_try_at - ${LONG_MS} * interval '1 millisecond'`);
}

export function balanceOf({ platform }: World, login: string): string {
  return formatMinor(ledgerBalance(platform.ledger, login));
}

export type FormattedPayment = {
  suffix: string;
  master: string;
  investor: string;
  due: string;
  paid: string;
  status: string;
};

export async function paymentsOf({ deps }: World): Promise<FormattedPayment[]> {
  const rows = await many<Omit<FormattedPayment, "due" | "paid"> & { due: bigint; paid: bigint }>(
    deps.pool,
    sql`select suffix, master_login as master, investor_login as investor, due_minor as due, amount_minor as paid, status
        from fee_payment
        order by id`,
  );
  return rows.map((row) => ({ ...row, due: formatMinor(row.due), paid: formatMinor(row.paid) }));
}

export async function runsOf({ deps }: World) {
  return many<{ kind: string; status: string; start: Date; end: Date }>(
    deps.pool,
    sql`select kind, status, "periodStart" as start, "periodEnd" as "end" from fee_run_row order by id`,
  );
}

export async function debtsOf({ deps }: World): Promise<Record<string, string>> {
  const rows = await many<{ pair: string; debt: bigint }>(
    deps.pool,
    sql`select investor_login || ':' || master_login as pair, sum(amount_minor)::bigint as debt
        from fee_debt_part
        group by 1
        order by 1`,
  );
  return Object.fromEntries(rows.map(({ pair, debt }) => [pair, formatMinor(debt)]));
}

/** Fees equal the sum of paid, open and debt amounts, and payment accounts have what was paid. */
export async function expectToReconcile({ deps, platform }: World): Promise<void> {
  const sums = await one<{ fees: bigint; taken: bigint; open: bigint; debt: bigint }>(
    deps.pool,
    sql`select coalesce(sum(due_minor) filter (where kind = 'PF'), 0)::bigint as fees,
               coalesce(sum(amount_minor) filter (where status = 'EXECUTED'), 0)::bigint as taken,
               coalesce(sum(due_minor) filter (where status in ('PENDING', 'EXECUTING')), 0)::bigint as open,
               (select coalesce(sum(amount_minor), 0)::bigint from fee_debt_part) as debt
        from fee_payment`,
  );
  expect(sums.taken + sums.open + sums.debt).toBe(sums.fees);
  const onAccounts = balancesOf(platform.ledger).filter(([login]) => login.startsWith("6"));
  expect(onAccounts.reduce((sum, [, amount]) => sum + amount, 0n) >= sums.taken).toBe(true);
}

function inCents(parts: Readonly<Record<string, string>>): Parts {
  return Object.fromEntries(Object.entries(parts).map(([login, amount]) => [login, cents(amount)]));
}
