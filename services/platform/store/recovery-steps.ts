import { column, execute, type Queryable, sql } from "#kernel/postgres/query.ts";
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
