import {
  execute,
  fragment,
  many,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
  unnest,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { DayPart } from "../domain/performance.ts";

const PART_COLUMNS = fragment`day, server_day as "serverDay", value, lowest, highest, peak, drawdown_ppm as "drawdownPpm",
  fall_ppm as "fallPpm", result_minor as result, pool_value_e8 as "poolValue", pool_units as "poolUnits", worth_e8 as worth,
  deal_id as "dealId", valued_at as "valuedAt"`;

/** The last part of a day on which the pool was valued. Its row changes only under the lock of the pool. */
export async function findLastPart(db: Queryable, masterLogin: string): Promise<DayPart | undefined> {
  const row = await maybeOne<DayPart>(
    db,
    sql`select ${PART_COLUMNS}
        from performance_day
        where master_login = ${masterLogin}
        order by day desc, server_day desc
        limit 1`,
  );
  return row && withoutNulls(row);
}

/** The caller has locked the pool. */
export async function savePerformance(tx: Transaction, masterLogin: string, parts: readonly DayPart[]): Promise<void> {
  if (parts.length === 0) return;
  await execute(
    tx,
    sql`insert into performance_day (master_login, day, server_day, value, lowest, highest, peak, drawdown_ppm, fall_ppm,
                                     result_minor, pool_value_e8, pool_units, worth_e8, deal_id, valued_at)
        select ${masterLogin}, *
        from ${unnest(parts)} as fresh (day text, server_day text, value numeric, lowest numeric, highest numeric, peak numeric,
                    drawdown_ppm integer, fall_ppm integer, result bigint, pool_value numeric, pool_units numeric, worth numeric,
                    deal_id bigint, valued_at timestamptz)
        on conflict (master_login, day, server_day) do update
        set value = excluded.value, lowest = excluded.lowest, highest = excluded.highest, peak = excluded.peak,
            drawdown_ppm = excluded.drawdown_ppm, fall_ppm = excluded.fall_ppm, result_minor = excluded.result_minor,
            pool_value_e8 = excluded.pool_value_e8, pool_units = excluded.pool_units, worth_e8 = excluded.worth_e8,
            deal_id = excluded.deal_id, valued_at = excluded.valued_at`,
  );
}

/** Days such as 2026-01-31, of UTC or of the trade server. */
export type DayRange = {
  readonly masterLogin: string;
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly isServer: boolean;
  readonly limit: number;
};

/** Ascending. A day of the server begins on the day before, or ends on the day after, in UTC. */
export async function listParts(db: Queryable, range: DayRange): Promise<DayPart[]> {
  const { masterLogin, from, to, isServer, limit } = range;
  const rows = await many<DayPart>(
    db,
    sql`select ${PART_COLUMNS}
        from performance_day
        where master_login = ${masterLogin} and case when ${isServer} then server_day else day end >= ${from}
          and case when ${isServer} then server_day else day end < ${to}
        order by day, server_day
        limit ${limit}`,
  );
  return rows.map(withoutNulls);
}

/** Value of a unit before a day; undefined when the pool was not valued before. */
export async function findValueBefore(
  db: Queryable,
  { masterLogin, from, isServer }: Pick<DayRange, "masterLogin" | "from" | "isServer">,
): Promise<bigint | undefined> {
  const row = await maybeOne<{ value: bigint }>(
    db,
    sql`select value
        from performance_day
        where master_login = ${masterLogin} and case when ${isServer} then server_day else day end < ${from}
        order by day desc, server_day desc
        limit 1`,
  );
  return row?.value;
}
