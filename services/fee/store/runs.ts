import { column, fragment, many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type NewRun = {
  readonly kind: "WEEKLY" | "ON_DEMAND";
  readonly masterLogin: string;
  /** Of a withdrawal or exit; undefined for a week. */
  readonly key: string | undefined;
  /** Of payments of weeks that it collects before its own. */
  readonly weeklyKeys: readonly string[];
  readonly periodStart: Date;
  readonly periodEnd: Date;
  /** False when further Investors of its pool are to be decided. */
  readonly isDecided: boolean;
};

/** Returns the ids by key: of a withdrawal or exit that has a run already there is none. A key has no line break. */
export async function insertRuns(
  tx: Transaction,
  runs: readonly NewRun[],
  at: Date,
): Promise<ReadonlyMap<string | undefined, bigint>> {
  if (runs.length === 0) return new Map();
  const rows = await many<{ id: bigint; key: string | null }>(
    tx,
    sql`insert into fee_run (kind, master_login, key, weekly_keys, period_start, period_end, is_decided, created_at)
        select kind, master_login, key, string_to_array(weekly_keys, ${"\n"}), period_start, period_end, is_decided, ${at}
        from unnest(
          ${runs.map(({ kind }) => kind)}::text[],
          ${runs.map(({ masterLogin }) => masterLogin)}::text[],
          ${runs.map(({ key }) => key)}::text[],
          ${runs.map(({ weeklyKeys }) => weeklyKeys.join("\n"))}::text[],
          ${runs.map(({ periodStart }) => periodStart)}::timestamptz[],
          ${runs.map(({ periodEnd }) => periodEnd)}::timestamptz[],
          ${runs.map(({ isDecided }) => isDecided)}::boolean[]
        ) with ordinality as run (kind, master_login, key, weekly_keys, period_start, period_end, is_decided, rank)
        order by rank
        on conflict (key) do nothing
        returning id, key`,
  );
  return new Map(rows.map(({ id, key }) => [key ?? undefined, id]));
}

/**
 * The run of a week, whose decision ends with its last payments; a decided run stays so. Undefined without such a run. The Master must be
 * locked.
 */
export async function extendRun(
  tx: Transaction,
  { masterLogin, periodEnd, isDecided }: NewRun,
): Promise<bigint | undefined> {
  const [id] = await column<bigint>(
    tx,
    sql`update fee_run
        set is_decided = is_decided or ${isDecided}
        where master_login = ${masterLogin} and period_end = ${periodEnd} and kind = 'WEEKLY'
        returning id`,
  );
  return id;
}

/** Above every id: a listing without a cursor begins with the newest. */
export const NEWEST = 2n ** 63n - 1n;

const RUN = fragment`
  select run.*, sum.*
  from fee_run_row run
  cross join lateral (
    select count(*) as payments, coalesce(sum(due_minor), 0)::bigint as due, coalesce(sum(prepaid_minor), 0)::bigint as prepaid,
           coalesce(sum(amount_minor) filter (where payment.status = 'EXECUTED'), 0)::bigint as collected,
           count(*) filter (where payment.status in ('PENDING', 'EXECUTING'))::integer as "openCount",
           count(*) filter (where payment.status = 'EXECUTED')::integer as "executedCount",
           count(*) filter (where payment.status in ('DEFERRED', 'REVERSED'))::integer as "failedCount"
    from fee_payment payment
    where payment.run_id = run.id
  ) as sum`;

export type ListedRun = Omit<NewRun, "key" | "weeklyKeys"> & {
  readonly id: bigint;
  readonly status: string;
  readonly openCount: number;
  readonly executedCount: number;
  readonly failedCount: number;
  readonly createdAt: Date;
  readonly payments: bigint;
  readonly due: bigint;
  readonly prepaid: bigint;
  readonly collected: bigint;
};

/** Weekly runs, the newest first: of all Masters by id; of one by week, as its weeks are decided one after the other. */
export async function listWeeklyRuns(
  db: Queryable,
  { masterLogin, before, limit }: { masterLogin: string; before: { id: bigint; periodEnd: Date }; limit: number },
): Promise<ListedRun[]> {
  const page =
    masterLogin === ""
      ? fragment`run.id < ${before.id} order by run.id desc`
      : fragment`run."masterLogin" = ${masterLogin} and run."periodEnd" < ${before.periodEnd} order by run."periodEnd" desc`;
  return await many<ListedRun>(db, sql`${RUN} where run.kind = 'WEEKLY' and ${page} limit ${limit}`);
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
