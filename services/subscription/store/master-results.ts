import { findLastPosition } from "#kernel/postgres/last-position.ts";
import { many, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** A result of a Master with the performance after it, which is null for units without a value. */
export type AllocatedResult = {
  readonly logNumber: bigint;
  readonly number: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  readonly allocatedAt: Date;
  /** Cents. */
  readonly result: bigint;
  /** What a compensation has raised holdings below zero by; not part of the result. */
  readonly raised: bigint;
  readonly poolUnits: string;
  /** Of a unit, in 1e-18 USD. */
  readonly value: string | null;
  readonly drawdownPpm: number | null;
  /** Of all units, in 1e-8 USD. */
  readonly poolValue: string | null;
};

export type ResultRange = {
  readonly masterLogin: string;
  /** Log positions, both exclusive. */
  readonly after: bigint;
  readonly before: bigint;
  readonly limit: number;
};

/** Descending by log position. Only results have one: closed weeks are not read. */
export async function listResultsOf(
  db: Queryable,
  { masterLogin, after, before, limit }: ResultRange,
): Promise<AllocatedResult[]> {
  return await many<AllocatedResult>(
    db,
    sql`select log_number as "logNumber", number, deal_id as "dealId", deal_at as "dealAt", created_at as "allocatedAt",
               result_minor as result, raised_minor as raised, pool_units::text as "poolUnits", unit_value::text as value,
               drawdown_ppm as "drawdownPpm", pool_value_e8::text as "poolValue"
        from allocation_entry
        where master_login = ${masterLogin} and log_number > ${after} and log_number < ${before}
        order by log_number desc
        limit ${limit}`,
  );
}

/**
 * Log position of a Master's last result that was allocated before an instant; 0 without one. Results are allocated in the order of their
 * log positions, so few of them are looked at, the same ones however many there are since.
 */
export async function findLastResultBefore(db: Queryable, masterLogin: string, instant: Date): Promise<bigint> {
  const { last } = await one<{ last: bigint }>(
    db,
    sql`select coalesce(max(log_number), 0)::bigint as last
        from allocation_entry
        where master_login = ${masterLogin} and case_id = 0`,
  );
  return await findLastPosition({ none: 0n, last }, (position) =>
    isResultBefore(db, masterLogin, { position, instant }),
  );
}

type Place = { readonly position: bigint; readonly instant: Date };

/** Whether the result at a log position, or the first one after it, was allocated before an instant; what operators allocate is out of order. */
async function isResultBefore(db: Queryable, masterLogin: string, { position, instant }: Place): Promise<boolean> {
  const result = await maybeOne<{ allocatedAt: Date }>(
    db,
    sql`select created_at as "allocatedAt"
        from allocation_entry
        where master_login = ${masterLogin} and log_number >= ${position} and case_id = 0
        order by log_number
        limit 1`,
  );
  return result !== undefined && result.allocatedAt < instant;
}

type LastDeal = { readonly dealId: bigint; readonly dealAt: Date };

/** The deal of the last result of a Master up to an entry of its allocations; of a repair the deal that it repairs. */
export async function findLastDeal(
  db: Queryable,
  masterLogin: string,
  throughNumber: bigint,
): Promise<LastDeal | undefined> {
  return maybeOne<LastDeal>(
    db,
    sql`select deal_id as "dealId", deal_at as "dealAt"
        from allocation_entry
        where master_login = ${masterLogin} and number <= ${throughNumber} and kind = 'RESULT' and deal_id <> 0
        order by number desc
        limit 1`,
  );
}
