import { execute, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { numberFloor } from "../domain/leg-number.ts";
import type { PermitGate } from "../domain/permit-gate.ts";
import { HERE } from "./database-identity.ts";

/** Registers this process in the database of the connection. `epoch` is a number that no process had before. */
export async function insertSender(db: Queryable): Promise<{ readonly epoch: bigint; readonly database: string }> {
  return await one(db, sql`insert into sender default values returning epoch, database`);
}

/** The time of the database, and whether permits are granted. */
export type Heartbeat = { readonly now: Date; readonly gate: PermitGate };

/** Undefined when this process is not registered in the database, which was restored or replaced. */
export async function markHeartbeat(db: Queryable, epoch: bigint): Promise<Heartbeat | undefined> {
  return await maybeOne<Heartbeat>(
    db,
    sql`update sender
        set heartbeat_at = clock_timestamp()
        where epoch = ${epoch} and database = ${HERE}
        returning clock_timestamp() as now,
                  case when (select stopped_at from permit_gate) is not null then 'stopped'
                       when (select database from permit_gate) = sender.database then 'open'
                       else 'reading' end as gate`,
  );
}

/**
 * Raises the leg sequence, so that a restored database assigns no number that is in the platform's history already, and notes that
 * this database has done it.
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
  await execute(
    tx,
    sql`insert into leg_numbering (database) values (database_identity())
        on conflict (is_only) do update set database = excluded.database`,
  );
}
