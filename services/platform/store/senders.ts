import { execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { numberFloor } from "../domain/operation-number.ts";

/** A new process, under a number that no process had before. */
export async function insertSender(db: Queryable): Promise<bigint> {
  const { epoch } = await one<{ epoch: bigint }>(db, sql`insert into sender default values returning epoch`);
  return epoch;
}

export async function markHeartbeat(db: Queryable, epoch: bigint): Promise<void> {
  await execute(db, sql`update sender set beat_at = clock_timestamp() where epoch = ${epoch}`);
}

/**
 * A database that was restored to an older time must not hand out numbers that stand in the platform's history. Processes
 * that start together raise one after the other: a sequence that is set back would fail whoever asks it next.
 */
export async function raiseOperationNumbers(tx: Transaction, nowMs: number): Promise<void> {
  await one(tx, sql`select pg_advisory_xact_lock(hashtextextended('operation_number', 0))`);
  await execute(
    tx,
    sql`select setval('operation_number', floor)
        from (select ${numberFloor(nowMs)}::bigint as floor) as raised
        where floor > (select last_value from operation_number)`,
  );
}
