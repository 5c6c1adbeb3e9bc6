import { matchesRow, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** Whether a review, open or decided, shows one of these deals. */
export async function hasCaseAbout(tx: Transaction, subject: string, dealIds: readonly bigint[]): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`select id
        from review_case
        where subject = ${subject} and evidence -> 'deal_ids' ?| ${dealIds.map(String)}::text[]
        limit 1`,
  );
}
