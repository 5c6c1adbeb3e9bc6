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

type WeekRow = { readonly periodMs: bigint; readonly anchor: Date };

/** The weeks of the last start; of an earlier version, which did not record them, those of a Master's last closed week. */
export async function findRecordedWeek(db: Queryable): Promise<Week | undefined> {
  const row =
    (await maybeOne<WeekRow>(db, sql`select period_ms as "periodMs", anchor from fee_week`)) ??
    (await maybeOne<WeekRow>(
      db,
      sql`select (extract(epoch from closed.cut_off - closed.period_start) * 1000)::bigint as "periodMs", closed.cut_off as anchor
          from master_pool pool
          cross join lateral (
            select period_start, cut_off from allocation_entry
            where master_login = pool.login and cut_off is not null
            order by cut_off desc limit 1
          ) as closed
          where pool.weeks_closed_through is not null
          limit 1`,
    ));
  return row && { periodMs: Number(row.periodMs), anchor: row.anchor };
}

export async function recordWeek(db: Queryable, { periodMs, anchor }: Week): Promise<void> {
  await execute(
    db,
    sql`insert into fee_week (period_ms, anchor) values (${periodMs}, ${anchor})
        on conflict (is_only) do update set period_ms = excluded.period_ms, anchor = excluded.anchor`,
  );
}
