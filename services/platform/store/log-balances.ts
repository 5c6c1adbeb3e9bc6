import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";

/** Number of an entry of a login's log; -1 is before the opening. */
export type Place = { readonly login: string; readonly number: bigint };

export type LogBalance = {
  readonly login: string;
  /** Cents: the sum of the entries up to the place. */
  readonly balanceMinor: bigint;
  /** The newest deal up to there. */
  readonly dealId: bigint | null;
  readonly dealAt: Date | null;
  readonly lastNumber: bigint;
  /** Time of the newest deal of the whole log. */
  readonly lastDealAt: Date | null;
};

/** Entries never change, so what a log adds up to at a place is true for ever. Logins that are not managed are left out. */
export async function listLogBalances(db: Queryable, places: readonly Place[]): Promise<LogBalance[]> {
  return many<LogBalance>(
    db,
    sql`select account.login, log_number as "lastNumber", log_minor - later.amount as "balanceMinor",
               filed.deal_id as "dealId", filed.deal_at as "dealAt", newest.deal_at as "lastDealAt"
        from unnest(
               ${places.map(({ login }) => login)}::text[], ${places.map(({ number }) => number)}::bigint[]
             ) as place (login, number)
             join account on account.login = place.login
             cross join lateral (
               select coalesce(sum(amount_minor), 0)::bigint as amount
               from log_entry
               where log_entry.login = place.login and log_entry.number > place.number
             ) as later
             left join lateral (
               select deal_id, deal_at
               from log_entry
               where log_entry.login = place.login and log_entry.number <= place.number and deal_id is not null
               order by log_entry.number desc
               limit 1
             ) as filed on true
             left join lateral (
               select deal_at
               from log_entry
               where log_entry.login = place.login and deal_id is not null
               order by log_entry.number desc
               limit 1
             ) as newest on true`,
  );
}
