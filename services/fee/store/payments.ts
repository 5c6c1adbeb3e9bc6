import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { fragment, many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Day } from "#kernel/values/time-zone.ts";
import type { ExplainedPayment } from "../domain/explained-payment.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";

/** Of a payment account. */
export type Credit = {
  readonly id: bigint;
  readonly paymentAccountLogin: string;
  readonly investorLogin: string;
  readonly kind: string;
  /** Cents. */
  readonly amount: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  readonly createdAt: Date;
};

/** Ascending by id. */
export async function listCredits(
  db: Queryable,
  page: { masterLogin: string; afterId: bigint; limit: number },
): Promise<Credit[]> {
  return await many<Credit>(
    db,
    sql`select credit_id as id, payment_account_login as "paymentAccountLogin", investor_login as "investorLogin", kind,
               amount_minor as amount, credit_deal_id as "dealId", executed_at as "dealAt", credited_at as "createdAt"
        from fee_payment
        where master_login = ${page.masterLogin} and credit_id > ${page.afterId}
        order by credit_id
        limit ${page.limit}`,
  );
}

/** An executed payment with its run. */
export type ListedPayment = {
  readonly id: bigint;
  readonly runId: bigint;
  readonly runStatus: string;
  readonly runPeriodStart: Date;
  readonly runPeriodEnd: Date;
  readonly masterLogin: string;
  readonly paymentAccountLogin: string;
  readonly investorId: bigint;
  readonly investorLogin: string;
  /** Cents. */
  readonly amount: bigint;
  readonly status: string;
  readonly transferId: bigint;
  readonly dealId: bigint;
  readonly executedAt: Date;
  readonly cashflowId: bigint;
  readonly cashflowUniqueKey: string;
  readonly createdAt: Date;
};

/** Descending by id: those of a Master's Investors, or those of one Investor to any Master. */
export async function listExecutedPayments(
  db: Queryable,
  whose: { readonly masterLogin: string } | { readonly investorLogin: string },
  page: { readonly beforeId: bigint; readonly limit: number },
): Promise<ListedPayment[]> {
  const isWanted =
    "masterLogin" in whose
      ? fragment`payment.master_login = ${whose.masterLogin}`
      : fragment`payment.investor_login = ${whose.investorLogin}`;
  return await many<ListedPayment>(
    db,
    sql`select payment.id, payment.run_id as "runId", run.status as "runStatus", run."periodStart" as "runPeriodStart",
               run."periodEnd" as "runPeriodEnd", payment.master_login as "masterLogin",
               payment.payment_account_login as "paymentAccountLogin", payment.investor_id as "investorId",
               payment.investor_login as "investorLogin", payment.amount_minor as amount, payment.status,
               payment.transfer_id as "transferId", payment.deal_id as "dealId", payment.executed_at as "executedAt",
               payment.credit_id as "cashflowId", payment.unique_key as "cashflowUniqueKey", payment.created_at as "createdAt"
        from fee_payment payment
             join fee_run_row run on run.id = payment.run_id
        where payment.status = 'EXECUTED' and ${isWanted} and payment.id < ${page.beforeId}
        order by payment.id desc
        limit ${page.limit}`,
  );
}

type CreditedDay = { readonly day: string; readonly amount: bigint };

/** The credits of a Master by day of the deal, ascending. The index has all that is read. */
export async function listCreditedDays(
  db: Queryable,
  masterLogin: string,
  days: readonly Day[],
): Promise<CreditedDay[]> {
  return many<CreditedDay>(
    db,
    sql`select day, sum(amount_minor)::bigint as amount
        from unnest(
               ${days.map(({ day }) => day)}::text[],
               ${days.map(({ from }) => from)}::timestamptz[],
               ${days.map(({ to }) => to)}::timestamptz[]
             ) as credited (day, starts_at, ends_at)
             join fee_payment on master_login = ${masterLogin} and status = 'EXECUTED'
                             and executed_at >= starts_at and executed_at < ends_at
        group by day
        order by day`,
  );
}

/** A payment with its run, as far as its explanation needs them. */
export type StoredPayment = Omit<ExplainedPayment, "calculation" | "debtParts" | "flows"> & {
  readonly id: bigint;
  readonly uniqueKey: string;
  readonly runId: bigint;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly createdAt: Date;
  /** As JSON; undefined for a debt, and for an imported fee. */
  readonly explanation: unknown;
};

export async function findStoredPayment(db: Queryable, id: bigint): Promise<StoredPayment | undefined> {
  const row = await maybeOne<StoredPayment>(
    db,
    sql`select payment.id, payment.kind, payment.suffix, payment.master_login as "masterLogin",
               payment.investor_login as "investorLogin", starts_with(payment.suffix, 'IM') as "isImported", payment.status,
               payment.reason, payment.due_minor as due, payment.prepaid_minor as prepaid, payment.amount_minor as amount,
               payment.owed_since as since, payment.executed_at as "executedAt", payment.unique_key as "uniqueKey",
               payment.explanation, payment.created_at as "createdAt", run.id as "runId",
               run.period_start as "periodStart", run.period_end as "periodEnd"
        from fee_payment payment join fee_run run on run.id = payment.run_id
        where payment.id = ${id}`,
  );
  return row && withoutNulls(row);
}

/** Debit and credit of the payments with these keys, as they are requested: at most the largest transfer. SQL of its own, because a check reads it. */
export async function listOwnedLegs(db: Queryable, keys: readonly string[]): Promise<OwnedLeg[]> {
  return await many<OwnedLeg>(
    db,
    sql`select key, leg.login, leg.kind, leg.sign * least(due_minor - prepaid_minor, ${MAX_AMOUNT.minor}::bigint) as "amountMinor"
        from fee_payment
        cross join lateral (
          values (1, investor_login, 'fee_debit', -1), (2, payment_account_login, 'fee_credit', 1)
        ) as leg (ordinal, login, kind, sign)
        where key = any (${keys}::text[])
        order by id, leg.ordinal`,
  );
}
