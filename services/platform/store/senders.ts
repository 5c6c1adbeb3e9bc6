import { execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { numberFloor } from "../domain/leg-number.ts";

/** Registers this process and returns its epoch, a number that no process had before. */
export async function insertSender(db: Queryable): Promise<bigint> {
  const { epoch } = await one<{ epoch: bigint }>(db, sql`insert into sender default values returning epoch`);
  return epoch;
}

export async function markHeartbeat(db: Queryable, epoch: bigint): Promise<void> {
  await execute(db, sql`update sender set heartbeat_at = clock_timestamp() where epoch = ${epoch}`);
}

/**
 * Raises the leg sequence, so that a restored database assigns no number that is in the platform's history already.
 * Processes that start together take turns: setting the sequence back would assign a number twice.
 */
export async function raiseLegNumbers(tx: Transaction, nowMs: number): Promise<void> {
  await one(tx, sql`select pg_advisory_xact_lock(hashtextextended('leg_number', 0))`);
  await execute(
    tx,
    sql`select setval('leg_number', floor)
        from (select ${numberFloor(nowMs)}::bigint as floor) as raised
        where floor > (select last_value from leg_number)`,
  );
}
