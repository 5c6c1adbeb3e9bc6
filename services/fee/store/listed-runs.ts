import { fragment, many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";

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
export async function positionOf(
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
