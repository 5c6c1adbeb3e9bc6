import { DAY_MS } from "#kernel/duration.ts";
import { many, one, type Queryable, sql } from "#kernel/postgres/query.ts";

export type FeeAccount = {
  /** High-water mark with the Master, 1e-8 USD. */
  readonly mark: bigint;
  /** Cents, to all Masters. */
  readonly debt: bigint;
};

export async function getFeeAccount(db: Queryable, investorLogin: string, masterLogin: string): Promise<FeeAccount> {
  return one<FeeAccount>(
    db,
    sql`select coalesce(max(case when master_login = ${masterLogin} then mark_e8 end), 0)::bigint as mark,
               coalesce(sum(debt_minor), 0)::bigint as debt
        from fee_pair
        where investor_login = ${investorLogin}`,
  );
}

/** Days begin at midnight, UTC. */
const EPOCH = new Date(0);

export type CreditedDay = { readonly day: string; readonly amount: bigint };

/** The credits of a Master by day (UTC) of the deal, ascending. The index has all that is read. */
export async function listCreditedDays(
  db: Queryable,
  { masterLogin, from, to }: { readonly masterLogin: string; readonly from: Date; readonly to: Date },
): Promise<CreditedDay[]> {
  const rows = await many<{ readonly day: Date; readonly amount: bigint }>(
    db,
    sql`select day, sum(amount_minor)::bigint as amount
        from (
          select date_bin(${DAY_MS}::bigint * interval '1 millisecond', deal_at, ${EPOCH}::timestamptz) as day, amount_minor
          from payment_credit
          where master_login = ${masterLogin} and deal_at >= ${from} and deal_at < ${to}
        ) as credited
        group by day
        order by day`,
  );
  return rows.map(({ day, amount }) => ({ day: day.toISOString().slice(0, "2026-01-31".length), amount }));
}
