import { abs, type Finding } from "#kernel/reconcile/check.ts";
import { type Fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";

export const RUN = "run";
export const TWICE = "twice";

type Counts = { readonly open: number; readonly executed: number; readonly failed: number };
type RunRow = {
  readonly id: bigint;
  readonly master: string;
  readonly counted: Counts;
  readonly found: Counts;
  readonly paidMinor: bigint;
  readonly creditedMinor: bigint;
  readonly dueMinor: bigint;
};

/** Fee runs whose counts or sums differ from those of their payments. */
export async function listBrokenRuns(db: Queryable, runs: Fragment): Promise<Finding[]> {
  const rows = await many<RunRow>(
    db,
    sql`with of_run as (
          select fee_run.id, fee_run.master_login as master,
                 jsonb_build_object('open', open_count, 'executed', executed_count, 'failed', failed_count) as counted,
                 jsonb_build_object(
                   'open', count(payment.id) filter (where payment.status in ('PENDING', 'EXECUTING')),
                   'executed', count(payment.id) filter (where payment.status = 'EXECUTED'),
                   'failed', count(payment.id) filter (where payment.status in ('DEFERRED', 'REVERSED'))
                 ) as found,
                 coalesce(sum(payment.amount_minor) filter (where payment.status = 'EXECUTED'), 0)::bigint as paid,
                 coalesce(sum(credit.amount_minor), 0)::bigint as credited,
                 coalesce(sum(payment.due_minor), 0)::bigint as due
          from fee_run
               left join fee_payment as payment on payment.run_id = fee_run.id
               left join payment_credit as credit on credit.id = payment.credit_id
          where fee_run.id in ${runs}
          group by fee_run.id
        )
        select id, master, counted, found, paid as "paidMinor", credited as "creditedMinor", due as "dueMinor"
        from of_run
        where counted <> found or paid <> credited
        order by id`,
  );
  return rows.map(({ id, master, counted, found, paidMinor, creditedMinor, dueMinor }) => {
    const differs = abs(paidMinor - creditedMinor);
    return {
      key: `${RUN}:${id}`,
      login: master,
      masterLogin: master,
      // When only the counts differ, each payment of the run may be wrong.
      atRiskMinor: differs === 0n ? dueMinor : differs,
      message: `Fee run ${id} differs from its payments and credits.`,
      evidence: { counted, found, paid_minor: String(paidMinor), credited_minor: String(creditedMinor) },
    };
  });
}

type TwiceRow = {
  readonly id: bigint;
  readonly master: string;
  readonly investor: string;
  readonly payments: readonly bigint[];
  readonly deals: readonly bigint[];
  readonly beyondMinor: bigint;
};

/** Weekly runs in which one Investor has more than one fee. A debt that is collected in the run is not a fee. */
export async function listPaidTwice(db: Queryable, runs: Fragment): Promise<Finding[]> {
  const rows = await many<TwiceRow>(
    db,
    sql`select run_id as id, fee_payment.master_login as master, investor_login as investor,
               array_agg(fee_payment.id order by fee_payment.id) as payments,
               coalesce(array_agg(deal_id order by fee_payment.id) filter (where deal_id is not null), '{}') as deals,
               (sum(due_minor) - max(due_minor))::bigint as "beyondMinor"
        from fee_run
             join fee_payment on run_id = fee_run.id and fee_payment.kind = 'PF'
        where fee_run.id in ${runs} and fee_run.kind = 'WEEKLY'
        group by run_id, fee_payment.master_login, investor_login
        having count(*) > 1
        order by run_id, investor_login`,
  );
  return rows.map(({ id, master, investor, payments, deals, beyondMinor }) => ({
    key: `${TWICE}:${id}:${investor}`,
    login: investor,
    masterLogin: master,
    atRiskMinor: beyondMinor,
    dealIds: deals,
    message: `Investor ${investor} has more than one fee in run ${id}.`,
    evidence: { payments: payments.map(String) },
  }));
}
