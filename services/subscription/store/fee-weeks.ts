import { execute, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Week } from "../domain/weeks.ts";

/** The Masters that close weeks: those with an ACTIVE Investor. */
export async function countMastersWithWeeks(db: Queryable): Promise<number> {
  const { masters } = await one<{ masters: bigint }>(
    db,
    sql`select count(*) as masters from master_pool where weeks_closed_through is not null`,
  );
  return Number(masters);
}

/** The weeks of the last start. */
export async function findRecordedWeek(db: Queryable): Promise<Week | undefined> {
  const row = await maybeOne<{ readonly periodMs: bigint; readonly anchor: Date }>(
    db,
    sql`select period_ms as "periodMs", anchor from fee_week`,
  );
  return row && { periodMs: Number(row.periodMs), anchor: row.anchor };
}

export async function recordWeek(db: Queryable, { periodMs, anchor }: Week): Promise<void> {
  await execute(
    db,
    sql`insert into fee_week (period_ms, anchor) values (${periodMs}, ${anchor})
        on conflict (is_only) do update set period_ms = excluded.period_ms, anchor = excluded.anchor`,
  );
}
