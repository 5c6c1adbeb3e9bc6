import { usd, type Money } from "#kernel/money.ts";
import { fragment, many, sql, withoutNulls, type Queryable } from "#kernel/postgres/query.ts";

export type Credit = {
  readonly id: bigint;
  readonly paymentAccountLogin: string;
  readonly investorLogin: string | undefined;
  readonly kind: string;
  readonly amount: Money;
  readonly dealId: bigint;
  readonly dealAt: Date;
  readonly createdAt: Date;
};

export type Payment = {
  readonly id: bigint;
  readonly runId: bigint;
  readonly runStatus: string;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly investorId: bigint;
  readonly investorLogin: string;
  readonly amount: Money;
  readonly status: string;
  readonly transferId: bigint;
  readonly dealId: bigint;
  readonly executedAt: Date;
  readonly creditId: bigint;
  readonly uniqueKey: string;
  readonly createdAt: Date;
};

type CreditRow = Omit<Credit, "amount"> & { amountMinor: bigint };

type PaymentRow = Omit<Payment, "amount"> & { amountMinor: bigint };

/** Ascending by id. */
export async function listCredits(
  db: Queryable,
  page: { masterLogin: string; afterId: bigint; limit: number },
): Promise<Credit[]> {
  const rows = await many<CreditRow>(
    db,
    sql`select id, payment_account_login as "paymentAccountLogin", investor_login as "investorLogin", kind,
               amount_minor as "amountMinor", deal_id as "dealId", deal_at as "dealAt", created_at as "createdAt"
        from payment_credit
        where master_login = ${page.masterLogin} and id > ${page.afterId}
        order by id
        limit ${page.limit}`,
  );
  return rows.map(withoutNulls).map(({ amountMinor, ...row }) => ({ ...row, amount: usd(amountMinor) }));
}

const EXECUTED = fragment`
  select payment.id, payment.run_id as "runId", run.status as "runStatus", run.period_start as "periodStart",
         run.period_end as "periodEnd", payment.investor_id as "investorId", payment.investor_login as "investorLogin",
         payment.amount_minor as "amountMinor", payment.status, payment.transfer_id as "transferId",
         payment.deal_id as "dealId", payment.executed_at as "executedAt", payment.credit_id as "creditId",
         credit.unique_key as "uniqueKey", payment.created_at as "createdAt"`;

const WITH_RUN_AND_CREDIT = fragment`
  from fee_payment payment
  join fee_run run on run.id = payment.run_id
  join payment_credit credit on credit.id = payment.credit_id
  where payment.status = 'EXECUTED' and payment.amount_minor > 0`;

/** Executed payments above 0.00 of a Master's Investors, descending by id. */
export async function listExecutedPayments(
  db: Queryable,
  page: { masterLogin: string; beforeId: bigint; limit: number },
): Promise<Payment[]> {
  const rows = await many<PaymentRow>(
    db,
    sql`${EXECUTED}
        ${WITH_RUN_AND_CREDIT}
          and payment.master_login = ${page.masterLogin} and payment.id < ${page.beforeId}
        order by payment.id desc
        limit ${page.limit}`,
  );
  return rows.map(({ amountMinor, ...row }) => ({ ...row, amount: usd(amountMinor) }));
}

export type PaymentToMaster = Payment & { readonly masterLogin: string; readonly paymentAccountLogin: string };

/** Those of one Investor, to any Master. */
export async function listExecutedPaymentsOf(
  db: Queryable,
  page: { investorLogin: string; beforeId: bigint; limit: number },
): Promise<PaymentToMaster[]> {
  const rows = await many<Omit<PaymentToMaster, "amount"> & { amountMinor: bigint }>(
    db,
    sql`${EXECUTED}, payment.master_login as "masterLogin", payment.payment_account_login as "paymentAccountLogin"
        ${WITH_RUN_AND_CREDIT}
          and payment.investor_login = ${page.investorLogin} and payment.id < ${page.beforeId}
        order by payment.id desc
        limit ${page.limit}`,
  );
  return rows.map(({ amountMinor, ...row }) => ({ ...row, amount: usd(amountMinor) }));
}
