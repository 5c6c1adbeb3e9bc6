import { fragment, one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Entries from one checkpoint of a log to the next: a balance at a log position is the sum of hardly more. */
const ENTRIES_PER_CHECKPOINT = 256;

/**
 * Stores the balance of each log that has passed a multiple of the number of entries. Part of a statement in which `moved` has the new
 * end of each log, its sum, and how many entries were added.
 */
export const CHECKPOINTED = fragment`
  insert into log_checkpoint (login, number, balance_minor)
  select login, log_number, log_minor
  from moved
  where log_number % ${ENTRIES_PER_CHECKPOINT}::bigint < entries`;

/** Sum of the entries up to and with a log position, in cents. */
export async function findBalanceAt(db: Queryable, login: string, number: bigint): Promise<bigint> {
  const { balance } = await one<{ balance: bigint }>(
    db,
    sql`with checkpoint as (
          select number, balance_minor
          from log_checkpoint
          where login = ${login} and number <= ${number}
          order by number desc
          limit 1
        )
        select (coalesce((select balance_minor from checkpoint), 0) + coalesce(sum(amount_minor), 0))::bigint as balance
        from log_entry
        where login = ${login} and number > coalesce((select number from checkpoint), -1) and number <= ${number}`,
  );
  return balance;
}
