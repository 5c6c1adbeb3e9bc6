import { matchesRow, maybeOne, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { findCase } from "#kernel/review/cases.ts";

/** Locked before its Master, as in decideReview. */
export async function lockUndecidedCase(tx: Transaction, subject: string): Promise<ReviewCase | undefined> {
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`select id from review_case where subject = ${subject} and state in ('OPEN', 'PROPOSED') for update`,
  );
  return row && (await findCase(tx, row.id));
}

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
