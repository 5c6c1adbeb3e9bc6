import { execute, many, maybeOne, type Queryable, sql, fragment, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { runStatus } from "../domain/run-status.ts";

export type NewRun = {
  readonly kind: "WEEKLY" | "ON_DEMAND";
  readonly masterLogin: string;
  /** Of a withdrawal or exit; undefined for a week. */
  readonly key: string | undefined;
  /** Of payments of weeks that it collects before its own. */
  readonly weeklyKeys: readonly string[];
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly markedAt: Date | undefined;
  /** How many payments it has. */
  readonly payments: number;
  /** False when further Investors of its pool are to be decided. */
  readonly isDecided: boolean;
};

/** The number of payments of a run that were settled, by outcome. Skipped ones count only in `settled`. */
export type Settled = { readonly settled: number; readonly executed: number; readonly failed: number };

type RunRow = { id: bigint; open: number; executed: number; failed: number; isDecided: boolean };

/** Returns the ids by key: of a withdrawal or exit that has a run already there is none. A key has no line break. */
export async function insertRuns(
  tx: Transaction,
  runs: readonly NewRun[],
  at: Date,
): Promise<ReadonlyMap<string | undefined, bigint>> {
  if (runs.length === 0) return new Map();
  const rows = await many<{ id: bigint; key: string | null }>(
    tx,
    sql`insert into fee_run
          (kind, master_login, key, weekly_keys, status, period_start, period_end, marked_at, is_decided, open_count, created_at)
        select kind, master_login, key, string_to_array(weekly_keys, ${"\n"}), status, period_start, period_end, marked_at, is_decided, open_count, ${at}
        from unnest(
          ${runs.map(({ kind }) => kind)}::text[],
          ${runs.map(({ masterLogin }) => masterLogin)}::text[],
          ${runs.map(({ key }) => key)}::text[],
          ${runs.map(({ weeklyKeys }) => weeklyKeys.join("\n"))}::text[],
          ${runs.map((run) => runStatus({ ...run, open: run.payments, executed: 0, failed: 0, hasBegun: false }))}::text[],
          ${runs.map(({ periodStart }) => periodStart)}::timestamptz[],
          ${runs.map(({ periodEnd }) => periodEnd)}::timestamptz[],
          ${runs.map(({ markedAt }) => markedAt)}::timestamptz[],
          ${runs.map(({ isDecided }) => isDecided)}::boolean[],
          ${runs.map(({ payments }) => payments)}::integer[]
        ) with ordinality as run
          (kind, master_login, key, weekly_keys, status, period_start, period_end, marked_at, is_decided, open_count, rank)
        order by rank
        on conflict (key) do nothing
        returning id, key`,
  );
  return new Map(rows.map(({ id, key }) => [key ?? undefined, id]));
}

/**
 * Adds payments to the run of a week, and ends its decision when they are its last ones; a decided run stays so. Undefined without such a run. The
 * Master must be locked.
 */
export async function extendRun(
  tx: Transaction,
  { masterLogin, periodEnd, payments, isDecided }: NewRun,
): Promise<bigint | undefined> {
  const run = await maybeOne<RunRow>(
    tx,
    sql`select id, open_count as open, executed_count as executed, failed_count as failed, is_decided as "isDecided"
        from fee_run
        where master_login = ${masterLogin} and period_end = ${periodEnd} and kind = 'WEEKLY'
        for no key update`,
  );
  if (run === undefined) return undefined;
  const after = { ...run, open: run.open + payments, isDecided: run.isDecided || isDecided };
  if (after.open === run.open && after.isDecided === run.isDecided) return run.id;
  const status = runStatus({ ...after, hasBegun: true });
  await execute(
    tx,
    sql`update fee_run
        set open_count = ${after.open}, is_decided = ${after.isDecided}, status = ${status}
        where id = ${run.id}`,
  );
  return run.id;
}

/** Updates counts and status of runs. Runs are the last rows that a transaction locks, by ascending id. */
export async function countSettled(tx: Transaction, settledByRun: ReadonlyMap<bigint, Settled>): Promise<void> {
  const rows = await many<RunRow>(
    tx,
    sql`select id, open_count as open, executed_count as executed, failed_count as failed, is_decided as "isDecided"
        from fee_run
        where id = any(${[...settledByRun.keys()]}::bigint[])
        order by id
        for no key update`,
  );
  const after = rows.map(({ id, open, isDecided, ...before }) => {
    const { settled = 0, executed = 0, failed = 0 } = settledByRun.get(id) ?? {};
    const counts = { open: open - settled, executed: before.executed + executed, failed: before.failed + failed };
    return { id, ...counts, status: runStatus({ ...counts, hasBegun: true, isDecided }) };
  });
  await execute(
    tx,
    sql`update fee_run
        set open_count = counted.open, executed_count = counted.executed, failed_count = counted.failed,
            status = counted.status
        from unnest(
          ${after.map(({ id }) => id)}::bigint[],
          ${after.map(({ open }) => open)}::integer[],
          ${after.map(({ executed }) => executed)}::integer[],
          ${after.map(({ failed }) => failed)}::integer[],
          ${after.map(({ status }) => status)}::text[]
        ) as counted (id, open, executed, failed, status)
        where fee_run.id = counted.id`,
  );
}

const RUN = fragment`
  select run.id, run.master_login as "masterLogin", run.kind, run.status, run.period_start as "periodStart",
         run.period_end as "periodEnd", run.is_decided as "isDecided", run.open_count as "openCount",
         run.executed_count as "executedCount", run.failed_count as "failedCount", run.created_at as "createdAt",
         sum.payments, sum.due, sum.prepaid, sum.collected
  from fee_run run
  cross join lateral (
    select count(*) as payments, coalesce(sum(due_minor), 0)::bigint as due, coalesce(sum(prepaid_minor), 0)::bigint as prepaid,
           coalesce(sum(amount_minor) filter (where payment.status = 'EXECUTED'), 0)::bigint as collected
    from fee_payment payment
    where payment.run_id = run.id
  ) as sum`;

export type ListedRun = {
  readonly id: bigint;
  readonly masterLogin: string;
  readonly kind: string;
  readonly status: string;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly isDecided: boolean;
  readonly openCount: number;
  readonly executedCount: number;
  readonly failedCount: number;
  readonly createdAt: Date;
  readonly payments: bigint;
  readonly due: bigint;
  readonly prepaid: bigint;
  readonly collected: bigint;
};

/** Weekly runs of all Masters, descending by id. */
export async function listWeeklyRuns(
  db: Queryable,
  { beforeId, limit }: { readonly beforeId: bigint; readonly limit: number },
): Promise<ListedRun[]> {
  return await many<ListedRun>(
    db,
    sql`${RUN}
        where run.kind = 'WEEKLY' and run.id < ${beforeId}
        order by run.id desc
        limit ${limit}`,
  );
}

/** Those of one Master. Its weeks are decided one after the other, so they descend by id too. */
export async function listWeeklyRunsOf(
  db: Queryable,
  page: { readonly masterLogin: string; readonly before: Date; readonly limit: number },
): Promise<ListedRun[]> {
  return await many<ListedRun>(
    db,
    sql`${RUN}
        where run.kind = 'WEEKLY' and run.master_login = ${page.masterLogin} and run.period_end < ${page.before}
        order by run.period_end desc
        limit ${page.limit}`,
  );
}

export async function findRun(db: Queryable, id: bigint): Promise<ListedRun | undefined> {
  return await maybeOne<ListedRun>(db, sql`${RUN} where run.id = ${id}`);
}

export type PaymentOfRun = {
  readonly id: bigint;
  readonly investorId: bigint;
  readonly investorLogin: string;
  readonly kind: string;
  readonly status: string;
  readonly due: bigint;
  readonly prepaid: bigint;
  readonly amount: bigint;
  readonly transferId: bigint | undefined;
  readonly dealId: bigint | undefined;
  readonly executedAt: Date | undefined;
  readonly uniqueKey: string;
  readonly createdAt: Date;
};

/** All payments of a run, in every status, by Investor and key: as the unique index of a run's payments has them. */
export async function listPaymentsOfRun(
  db: Queryable,
  page: { readonly runId: bigint; readonly after: readonly [string, string, string]; readonly limit: number },
): Promise<PaymentOfRun[]> {
  const [investor, master, suffix] = page.after;
  const rows = await many<PaymentOfRun>(
    db,
    sql`select id, investor_id as "investorId", investor_login as "investorLogin", kind, status, due_minor as due,
               prepaid_minor as prepaid, amount_minor as amount, transfer_id as "transferId", deal_id as "dealId",
               executed_at as "executedAt", unique_key as "uniqueKey", created_at as "createdAt"
        from fee_payment
        where run_id = ${page.runId} and (investor_login, master_login, suffix) > (${investor}::text, ${master}::text, ${suffix}::text)
        order by investor_login, master_login, suffix
        limit ${page.limit}`,
  );
  return rows.map(withoutNulls);
}

/** Where a page after this payment begins. */
export async function placeOf(
  db: Queryable,
  { runId, paymentId }: { readonly runId: bigint; readonly paymentId: bigint },
): Promise<readonly [string, string, string] | undefined> {
  const row = await maybeOne<{ investor: string; master: string; suffix: string }>(
    db,
    sql`select investor_login as investor, master_login as master, suffix
        from fee_payment
        where id = ${paymentId} and run_id = ${runId}`,
  );
  return row && [row.investor, row.master, row.suffix];
}
