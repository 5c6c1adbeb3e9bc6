import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Day } from "#kernel/time-zone.ts";

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
