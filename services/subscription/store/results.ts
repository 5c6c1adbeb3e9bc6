import { many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A deal of a Master's trader, as it waits to be split. */
export type MasterResult = {
  readonly masterLogin: string;
  readonly number: bigint;
  readonly entryId: bigint;
  readonly dealId: bigint;
  readonly dealAt: Date;
  readonly amount: bigint;
  readonly action: number;
  readonly entry: number;
  readonly positionId: bigint;
  readonly symbol: string;
  readonly volume: bigint;
  readonly volumeClosed: bigint;
  readonly profit: bigint;
  readonly swap: bigint;
  readonly commission: bigint;
  readonly fee: bigint;
};

export async function insertMasterResults(tx: Transaction, results: readonly MasterResult[]): Promise<void> {
  if (results.length === 0) return;
  await many(
    tx,
    sql`insert into master_result (master_login, number, entry_id, deal_id, deal_at, amount_minor, action, entry,
                                   position_id, symbol, volume, volume_closed, profit_minor, swap_minor,
                                   commission_minor, fee_minor)
        select *
        from unnest(
          ${results.map((result) => result.masterLogin)}::text[],
          ${results.map((result) => result.number)}::bigint[],
          ${results.map((result) => result.entryId)}::bigint[],
          ${results.map((result) => result.dealId)}::bigint[],
          ${results.map((result) => result.dealAt)}::timestamptz[],
          ${results.map((result) => result.amount)}::bigint[],
          ${results.map((result) => result.action)}::integer[],
          ${results.map((result) => result.entry)}::integer[],
          ${results.map((result) => result.positionId)}::bigint[],
          ${results.map((result) => result.symbol)}::text[],
          ${results.map((result) => result.volume)}::bigint[],
          ${results.map((result) => result.volumeClosed)}::bigint[],
          ${results.map((result) => result.profit)}::bigint[],
          ${results.map((result) => result.swap)}::bigint[],
          ${results.map((result) => result.commission)}::bigint[],
          ${results.map((result) => result.fee)}::bigint[]
        )`,
  );
}
