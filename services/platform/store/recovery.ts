import { column, execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export async function insertRecoveryStep(tx: Transaction, service: string, generation: bigint): Promise<void> {
  await execute(
    tx,
    sql`insert into recovery_step (service, generation) values (${service}, ${generation}) on conflict do nothing`,
  );
}

/** Those of the services that have reported for the generation. */
export async function listRecovered(db: Queryable, generation: bigint): Promise<string[]> {
  return await column<string>(db, sql`select service from recovery_step where generation = ${generation}`);
}

/** How much of the lost time was imported, and what is still open. Each number is at most 10,000. */
export type Imports = {
  readonly movements: number;
  readonly openMovements: number;
  readonly unclaimedFees: number;
  readonly accountsToRead: number;
};

const MAX_COUNTED = 10_000;

export async function countImports(db: Queryable, stoppedAt: Date): Promise<Imports> {
  return await one<Imports>(
    db,
    sql`select movements.found::int as movements, movements.open::int as "openMovements",
               fees.unclaimed::int as "unclaimedFees", accounts.unread::int as "accountsToRead"
        from (
               select count(*) as found, count(*) filter (where operation_id is null) as open
               from (
                 select operation_id
                 from lost_movement
                 -- The plan is for any instant: with one bound it would read the movements of all earlier restores too.
                 where found_at >= ${stoppedAt} and found_at < 'infinity'
                 limit ${MAX_COUNTED}
               ) as lost
             ) as movements,
             (
               select count(*) as unclaimed
               from (select from transfer where starts_with(key, 'imported:fee:') limit ${MAX_COUNTED}) as imported
             ) as fees,
             (
               select count(*) as unread
               from (select from account where undecided_from is not null limit ${MAX_COUNTED}) as undecided
             ) as accounts`,
  );
}
