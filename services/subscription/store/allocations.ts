import { execute, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type DayPart, fallOf } from "../domain/performance.ts";

export type NewResult = {
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
};

type NewWeek = { readonly periodStart: Date; readonly cutOff: Date; readonly markedAt: Date | undefined };

/** An allocation entry of a Master: an allocated result, or a closed week. */
export type NewAllocationEntry = (NewResult | NewWeek) & {
  readonly number: bigint;
  /** Units of the whole pool, own capital included. */
  readonly poolUnits: bigint;
  /** The performance after a result; undefined for a week, and when the units had no value. */
  readonly valued: DayPart | undefined;
};

const NO_RESULT = { logNumber: undefined, dealId: undefined, dealAt: undefined, amount: undefined, own: undefined };
const NO_REPAIR = { raised: 0n, elsewhere: 0n, caseId: 0n };
const NO_WEEK = { periodStart: undefined, cutOff: undefined, markedAt: undefined };

export async function insertEntries(
  tx: Transaction,
  masterLogin: string,
  entries: readonly NewAllocationEntry[],
  at: Date,
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ valued, ...entry }) => ({
    ...NO_RESULT,
    ...NO_REPAIR,
    ...NO_WEEK,
    ...entry,
    value: valued?.value,
    drawdown: valued && fallOf(valued),
    poolValue: valued?.poolValue,
  }));
  await execute(
    tx,
    sql`insert into allocation_entry (master_login, created_at, kind, number, log_number, deal_id, deal_at,
                                      result_minor, own_minor, raised_minor, elsewhere_minor, case_id, period_start, cut_off, marked_at,
                                      pool_units, unit_value, drawdown_ppm, pool_value_e8)
        select ${masterLogin}, ${at}::timestamptz, case when cut_off is null then 'RESULT' else 'WEEK' end, *
        from ${unnest(rows)} as entry (number bigint, log_number bigint, deal_id bigint, deal_at timestamptz, amount bigint, own bigint, raised bigint,
                    elsewhere bigint, case_id bigint, period_start timestamptz, cut_off timestamptz, marked_at timestamptz,
                    pool_units numeric, value numeric, drawdown integer, pool_value numeric)`,
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
        from ${unnest(rows)} as part (number bigint, subscription_id bigint, amount bigint, pooled bigint, carry bigint, floating bigint,
                    units numeric)`,
  );
}
