import { execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type DayPart, fallOf } from "../domain/performance.ts";

/** An allocation entry of a Master: an allocated result, or a closed week. */
export type AllocationEntry = {
  readonly number: bigint;
  readonly result:
    | {
        readonly logNumber: bigint;
        readonly dealId: bigint;
        readonly dealAt: Date;
        readonly amount: bigint;
        /** The part of own capital. */
        readonly own: bigint;
        /** What the deal has raised holdings below zero by; not part of the result. */
        readonly raised: bigint;
        /** What of a result of a lost time was posted to Investors who are in no pool by the books. */
        readonly elsewhere: bigint;
        /** Review by which operators have allocated it; 0 for a deal. */
        readonly caseId: bigint;
      }
    | undefined;
  readonly week: { readonly periodStart: Date; readonly cutOff: Date; readonly markedAt: Date | undefined } | undefined;
};

export type NewAllocationEntry = AllocationEntry & {
  /** Units of the whole pool, own capital included. */
  readonly poolUnits: bigint;
  /** The performance after a result; undefined for a week, and when the units had no value. */
  readonly valued: DayPart | undefined;
};

export async function insertEntries(
  tx: Transaction,
  masterLogin: string,
  entries: readonly NewAllocationEntry[],
  at: Date,
): Promise<void> {
  if (entries.length === 0) return;
  await execute(
    tx,
    sql`insert into allocation_entry (master_login, created_at, kind, number, log_number, deal_id, deal_at,
                                      result_minor, own_minor, raised_minor, elsewhere_minor, case_id, period_start, cut_off, marked_at,
                                      pool_units, unit_value, drawdown_ppm, pool_value_e8)
        select ${masterLogin}, ${at}::timestamptz, case when cut_off is null then 'RESULT' else 'WEEK' end, *
        from unnest(
          ${entries.map(({ number }) => number)}::bigint[],
          ${entries.map(({ result }) => result?.logNumber)}::bigint[],
          ${entries.map(({ result }) => result?.dealId)}::bigint[],
          ${entries.map(({ result }) => result?.dealAt)}::timestamptz[],
          ${entries.map(({ result }) => result?.amount)}::bigint[],
          ${entries.map(({ result }) => result?.own)}::bigint[],
          ${entries.map(({ result }) => result?.raised ?? 0n)}::bigint[],
          ${entries.map(({ result }) => result?.elsewhere ?? 0n)}::bigint[],
          ${entries.map(({ result }) => result?.caseId ?? 0n)}::bigint[],
          ${entries.map(({ week }) => week?.periodStart)}::timestamptz[],
          ${entries.map(({ week }) => week?.cutOff)}::timestamptz[],
          ${entries.map(({ week }) => week?.markedAt)}::timestamptz[],
          ${entries.map(({ poolUnits }) => poolUnits)}::numeric[],
          ${entries.map(({ valued }) => valued?.value)}::numeric[],
          ${entries.map(({ valued }) => valued && fallOf(valued))}::integer[],
          ${entries.map(({ valued }) => valued?.poolValue)}::numeric[]
        ) as entry (number, log_number, deal_id, deal_at, result_minor, own_minor, raised_minor, elsewhere_minor, case_id, period_start, cut_off,
                    marked_at, pool_units, unit_value, drawdown_ppm, pool_value_e8)`,
  );
}

export type AllocationRow = {
  readonly number: bigint;
  readonly subscriptionId: bigint;
  readonly amount: bigint;
  /** Pooled amount (cents) and carry (1e-8 USD) after the entry. */
  readonly pooled: bigint;
  readonly carry: bigint;
  readonly units: bigint;
  readonly floating: bigint;
};

export async function insertRows(tx: Transaction, masterLogin: string, rows: readonly AllocationRow[]): Promise<void> {
  if (rows.length === 0) return;
  await execute(
    tx,
    sql`insert into allocation_row (master_login, number, subscription_id, amount_minor, pooled_minor, carry_e8,
                                    floating_e8, units)
        select ${masterLogin}, *
        from unnest(
          ${rows.map(({ number }) => number)}::bigint[],
          ${rows.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${rows.map(({ amount }) => amount)}::bigint[],
          ${rows.map(({ pooled }) => pooled)}::bigint[],
          ${rows.map(({ carry }) => carry)}::bigint[],
          ${rows.map(({ floating }) => floating)}::bigint[],
          ${rows.map(({ units }) => units)}::numeric[]
        )`,
  );
}

/** Allocation number of the newest entry; 0 without one. */
export async function findLastNumber(db: Queryable, masterLogin: string): Promise<bigint> {
  const { last } = await one<{ last: bigint }>(
    db,
    sql`select coalesce(max(number), 0)::bigint as last from allocation_entry where master_login = ${masterLogin}`,
  );
  return last;
}
