import { many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Day } from "#kernel/time-zone.ts";

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

export type CreditedDay = { readonly day: string; readonly amount: bigint };

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
             join payment_credit on master_login = ${masterLogin} and deal_at >= starts_at and deal_at < ends_at
        group by day
        order by day`,
  );
}
