import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { runStatus } from "../domain/run-status.ts";

export type NewRun = {
  readonly kind: "WEEKLY" | "ON_DEMAND";
  readonly masterLogin: string;
  /** Key of the crystallisation; undefined for a week. */
  readonly key: string | undefined;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly markedAt: Date | undefined;
  /** How many payments it has. */
  readonly payments: number;
};

/** The number of payments of a run that were settled, by outcome. Skipped ones count only in `settled`. */
export type Settled = { readonly settled: number; readonly executed: number; readonly failed: number };

export async function insertRun(tx: Transaction, run: NewRun, at: Date): Promise<bigint> {
  const { kind, masterLogin, key, periodStart, periodEnd, markedAt, payments } = run;
  const row = await one<{ id: bigint }>(
    tx,
    sql`insert into fee_run
          (kind, master_login, key, status, period_start, period_end, marked_at, open_count, created_at)
        values (${kind}, ${masterLogin}, ${key}, 'SCHEDULED', ${periodStart}, ${periodEnd}, ${markedAt}, ${payments}, ${at})
        returning id`,
  );
  return row.id;
}

/** Updates counts and status of runs. Runs are the last rows that a transaction locks, by ascending id. */
export async function countSettled(tx: Transaction, settledByRun: ReadonlyMap<bigint, Settled>): Promise<void> {
  const rows = await many<{ id: bigint; open: number; executed: number; failed: number }>(
    tx,
    sql`select id, open_count as open, executed_count as executed, failed_count as failed
        from fee_run
        where id = any(${[...settledByRun.keys()]}::bigint[])
        order by id
        for no key update`,
  );
  for (const { id, ...before } of rows) {
    const { settled = 0, executed = 0, failed = 0 } = settledByRun.get(id) ?? {};
    const counts = {
      open: before.open - settled,
      executed: before.executed + executed,
      failed: before.failed + failed,
    };
    await execute(
      tx,
      sql`update fee_run
          set open_count = ${counts.open}, executed_count = ${counts.executed}, failed_count = ${counts.failed},
              status = ${runStatus({ ...counts, hasBegun: true })}
          where id = ${id}`,
    );
  }
}
