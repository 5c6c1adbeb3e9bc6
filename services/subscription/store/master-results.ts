import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** A result of a Master with the performance after it, which is null for results of before it was kept, and for units without a value. */
export type AllocatedResult = {
  readonly logNumber: bigint;
  readonly number: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  readonly allocatedAt: Date;
  /** Cents. */
  readonly result: bigint;
  readonly poolUnits: string | null;
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
               result_minor as result, pool_units as "poolUnits", unit_value as value, drawdown_ppm as "drawdownPpm",
               pool_value_e8 as "poolValue"
        from allocation_entry
        where master_login = ${masterLogin} and log_number > ${after} and log_number < ${before}
        order by log_number desc
        limit ${limit}`,
  );
}

/** A power of 2 above every log position. */
const MOST_ENTRIES = 2n ** 40n;

/**
 * Log position of a Master's last result that was allocated before an instant; 0 without one. Results are allocated in the order of their
 * log positions, so few of them are looked at, the same number however many there are.
 */
export async function findLastResultBefore(db: Queryable, masterLogin: string, instant: Date): Promise<bigint> {
  let last = 0n;
  for (let step = MOST_ENTRIES; step > 0n; step /= 2n) {
    const result = await findResultFrom(db, masterLogin, last + step);
    if (result !== undefined && result.allocatedAt < instant) last = result.logNumber;
  }
  return last;
}

type Dated = Pick<AllocatedResult, "logNumber" | "allocatedAt">;

async function findResultFrom(db: Queryable, masterLogin: string, logNumber: bigint): Promise<Dated | undefined> {
  return await maybeOne<Dated>(
    db,
    sql`select log_number as "logNumber", created_at as "allocatedAt"
        from allocation_entry
        where master_login = ${masterLogin} and log_number >= ${logNumber}
        order by log_number
        limit 1`,
  );
}
