import { abs, type Finding } from "#kernel/reconcile/check.ts";
import { type Fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";

export const PAYMENT = "payment";
export const CREDIT = "credit";

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
export async function listBrokenPayments(db: Queryable, ids: Fragment): Promise<Finding[]> {
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
export async function listOrphanCredits(db: Queryable, ids: Fragment): Promise<Finding[]> {
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
