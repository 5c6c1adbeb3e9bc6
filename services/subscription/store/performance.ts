import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { PerformanceDay } from "../domain/performance.ts";

type Row = Omit<PerformanceDay, "value" | "lowest" | "peak" | "poolValue" | "poolUnits"> &
  Readonly<Record<"value" | "lowest" | "peak" | "poolValue" | "poolUnits", string>>;

/** The last day on which the pool was valued. Its row changes only under the lock of the pool. */
export async function findLastDay(db: Queryable, masterLogin: string): Promise<PerformanceDay | undefined> {
  const row = await maybeOne<Row>(
    db,
    sql`select day, value, lowest, peak, drawdown_ppm as "drawdownPpm", result_minor as result,
               pool_value_e8 as "poolValue", pool_units as "poolUnits", deal_id as "dealId", valued_at as "valuedAt"
        from performance_day
        where master_login = ${masterLogin}
        order by day desc
        limit 1`,
  );
  return row && toDay(row);
}

/** The caller has locked the pool. */
export async function savePerformance(
  tx: Transaction,
  masterLogin: string,
  days: readonly PerformanceDay[],
): Promise<void> {
  if (days.length === 0) return;
  await many(
    tx,
    sql`insert into performance_day (master_login, day, value, lowest, peak, drawdown_ppm, result_minor, pool_value_e8,
                                     pool_units, deal_id, valued_at)
        select ${masterLogin}, day, value, lowest, peak, drawdown, result, pool_value, pool_units, deal_id, valued_at
        from unnest(
          ${days.map(({ day }) => day)}::text[],
          ${days.map(({ value }) => value)}::numeric[],
          ${days.map(({ lowest }) => lowest)}::numeric[],
          ${days.map(({ peak }) => peak)}::numeric[],
          ${days.map(({ drawdownPpm }) => drawdownPpm)}::integer[],
          ${days.map(({ result }) => result)}::bigint[],
          ${days.map(({ poolValue }) => poolValue)}::numeric[],
          ${days.map(({ poolUnits }) => poolUnits)}::numeric[],
          ${days.map(({ dealId }) => dealId)}::bigint[],
          ${days.map(({ valuedAt }) => valuedAt)}::timestamptz[]
        ) as fresh (day, value, lowest, peak, drawdown, result, pool_value, pool_units, deal_id, valued_at)
        on conflict (master_login, day) do update
        set value = excluded.value, lowest = excluded.lowest, peak = excluded.peak, drawdown_ppm = excluded.drawdown_ppm,
            result_minor = excluded.result_minor, pool_value_e8 = excluded.pool_value_e8,
            pool_units = excluded.pool_units, deal_id = excluded.deal_id, valued_at = excluded.valued_at`,
  );
}

export type DayRange = {
  readonly masterLogin: string;
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly limit: number;
};

/** Ascending. */
export async function listDays(db: Queryable, { masterLogin, from, to, limit }: DayRange): Promise<PerformanceDay[]> {
  const rows = await many<Row>(
    db,
    sql`select day, value, lowest, peak, drawdown_ppm as "drawdownPpm", result_minor as result,
               pool_value_e8 as "poolValue", pool_units as "poolUnits", deal_id as "dealId", valued_at as "valuedAt"
        from performance_day
        where master_login = ${masterLogin} and day >= ${from} and day < ${to}
        order by day
        limit ${limit}`,
  );
  return rows.map(toDay);
}

/** Value of a unit before a day; undefined when the pool was not valued before. */
export async function findValueBefore(db: Queryable, masterLogin: string, day: string): Promise<bigint | undefined> {
  const row = await maybeOne<{ value: string }>(
    db,
    sql`select value
        from performance_day
        where master_login = ${masterLogin} and day < ${day}
        order by day desc
        limit 1`,
  );
  return row && BigInt(row.value);
}

function toDay({ value, lowest, peak, poolValue, poolUnits, ...row }: Row): PerformanceDay {
  return {
    ...row,
    value: BigInt(value),
    lowest: BigInt(lowest),
    peak: BigInt(peak),
    poolValue: BigInt(poolValue),
    poolUnits: BigInt(poolUnits),
  };
}
