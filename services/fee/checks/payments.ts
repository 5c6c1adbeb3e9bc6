import { column, type Fragment, fragment, type Queryable, sql, many } from "#kernel/postgres/query.ts";
import { type Check, described, abs, type Finding } from "#kernel/reconcile/check.ts";
import { MAX_OPEN_ROWS, selectIds } from "#kernel/reconcile/table-walk.ts";
import { type Walk, walkTables } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";

const CHECK = described("fee_payments");
const TABLES = {
  // Each is examined with all its payments; a large pool has thousands.
  run: { name: "fee_run", rows: fragment`fee_run`, id: fragment`id`, pageRows: 100 },
  payment: { name: "fee_payment", rows: fragment`fee_payment`, id: fragment`id` },
  credit: { name: "payment_credit", rows: fragment`payment_credit`, id: fragment`id` },
};

/**
 * fee_payments. Fee runs equal their payments, each executed payment has one credit and each credit one payment, and no
 * Investor pays twice for one week. All rows are committed together, so one snapshot is enough.
 */
export function payments({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...CHECK,
    run: (request) => walkTables({ pool, tables: TABLES, everyMs: CHECK.everyMs, examine }, request),
  };
}

const examine: Walk<keyof typeof TABLES>["examine"] = async (db, pages, { broken, open }) => {
  const closed = await listClosedRuns(db, open("run"));
  const runs = selectIds(pages.run, [...broken(RUN), ...broken(TWICE), ...closed]);
  const paid = selectIds(pages.payment, [...broken(PAYMENT), ...open("payment")]);
  const credits = selectIds(pages.credit, broken(CREDIT));
  const found = [
    ...(await listBrokenRuns(db, runs)),
    ...(await listPaidTwice(db, runs)),
    ...(await listBrokenPayments(db, paid)),
    ...(await listOrphanCredits(db, credits)),
  ];
  const openRuns = await listOpenRuns(db, selectIds(pages.run, open("run")));
  return { findings: async () => found, open: { run: openRuns, payment: await listOpenPayments(db, paid) } };
};

/** A run is examined again when its last payment is settled. */
function listClosedRuns(db: Queryable, runs: readonly bigint[]): Promise<bigint[]> {
  return column<bigint>(db, sql`select id from fee_run where open_count = 0 and id = any (${runs}::bigint[])`);
}

function listOpenRuns(db: Queryable, runs: Fragment): Promise<bigint[]> {
  return column<bigint>(
    db,
    sql`select id from fee_run where open_count > 0 and id in ${runs} order by id limit ${MAX_OPEN_ROWS + 1}`,
  );
}

/** Payments that are not settled. */
function listOpenPayments(db: Queryable, paid: Fragment): Promise<bigint[]> {
  return column<bigint>(
    db,
    sql`select id
        from fee_payment
        where status in ('PENDING', 'EXECUTING') and id in ${paid}
        order by id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}

const PAYMENT = "payment";
const CREDIT = "credit";

type PaymentRow = {
  readonly id: bigint;
  readonly master: string;
  readonly investor: string;
  readonly status: string;
  readonly paidMinor: bigint;
  readonly creditedMinor: bigint | null;
  readonly uniqueKey: string;
  readonly creditKey: string | null;
  readonly creditId: bigint | null;
  readonly deal: bigint | null;
};

/** Executed payments without a credit of the same amount, account and key, and other payments with a credit. */
async function listBrokenPayments(db: Queryable, ids: Fragment): Promise<Finding[]> {
  const rows = await many<PaymentRow>(
    db,
    sql`select payment.id, payment.master_login as master, payment.investor_login as investor, status,
               payment.amount_minor as "paidMinor", credit.amount_minor as "creditedMinor",
               payment.unique_key as "uniqueKey", credit.unique_key as "creditKey", credit.id as "creditId",
               payment.deal_id as deal
        from fee_payment as payment
             left join payment_credit as credit on credit.id = payment.credit_id
        where payment.id in ${ids} and case status when 'EXECUTED' then
                credit.id is null or credit.amount_minor <> payment.amount_minor or credit.kind <> payment.kind
                or credit.unique_key <> payment.unique_key or credit.master_login <> payment.master_login
                or credit.payment_account_login <> payment.payment_account_login
              else payment.credit_id is not null end
        order by payment.id`,
  );
  return rows.map((row) => ({
    key: `${PAYMENT}:${row.id}`,
    login: row.investor,
    masterLogin: row.master,
    atRiskMinor: atRisk(row.paidMinor, row.creditedMinor ?? 0n),
    dealIds: row.deal === null ? [] : [row.deal],
    message: `Payment ${row.id} (${row.status}) differs from its credit.`,
    evidence: {
      paid_minor: String(row.paidMinor),
      credited_minor: row.creditedMinor === null ? null : String(row.creditedMinor),
      unique_key: row.uniqueKey,
      credit_key: row.creditKey,
      credit_id: row.creditId === null ? null : String(row.creditId),
    },
  }));
}

type CreditRow = {
  readonly id: bigint;
  readonly master: string;
  readonly account: string;
  readonly amountMinor: bigint;
  readonly deal: bigint;
  readonly uniqueKey: string;
};

/** Credits on a payment account that belong to no payment. */
async function listOrphanCredits(db: Queryable, ids: Fragment): Promise<Finding[]> {
  const rows = await many<CreditRow>(
    db,
    sql`select credit.id, credit.master_login as master, payment_account_login as account,
               credit.amount_minor as "amountMinor", credit.deal_id as deal, unique_key as "uniqueKey"
        from payment_credit as credit
        where credit.id in ${ids} and not exists (select from fee_payment where credit_id = credit.id)
        order by credit.id`,
  );
  return rows.map(({ id, master, account, amountMinor, deal, uniqueKey }) => ({
    key: `${CREDIT}:${id}`,
    login: account,
    masterLogin: master,
    atRiskMinor: amountMinor,
    dealIds: [deal],
    message: `Credit ${id} belongs to no payment.`,
    evidence: { unique_key: uniqueKey, amount_minor: String(amountMinor) },
  }));
}

/** The difference in cents; the whole amount when only the key differs. */
function atRisk(paid: bigint, credited: bigint): bigint {
  return paid === credited ? paid : abs(paid - credited);
}

const RUN = "run";
const TWICE = "twice";

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
async function listBrokenRuns(db: Queryable, runs: Fragment): Promise<Finding[]> {
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
async function listPaidTwice(db: Queryable, runs: Fragment): Promise<Finding[]> {
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
