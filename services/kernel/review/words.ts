import { execute, many, type Queryable, sql } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";
import type { ReviewEvent } from "./review.ts";

/** What was said stays as it was said. `commandId` is empty when no command said it. */
export async function insertReviewEvent(
  tx: Transaction,
  { caseId, commandId }: { readonly caseId: bigint; readonly commandId: string },
  { word, action, dealId, note, actor, at }: ReviewEvent,
): Promise<void> {
  await execute(
    tx,
    sql`insert into review_event (case_id, word, action, deal_id, note, actor, said_at, command_id)
        values (${caseId}, ${word}, ${action}, ${dealId}, ${note}, ${actor}, ${at}, ${commandId})`,
  );
}

/** All words about a case up to the one that a command said, in their order; none when the command has said nothing. */
export async function listReviewEventsUntil(
  db: Queryable,
  commandId: string,
): Promise<(ReviewEvent & { caseId: bigint })[]> {
  return await many(
    db,
    sql`select said.case_id as "caseId", said.word, said.action, said.deal_id as "dealId", said.note, said.actor,
               said.said_at as at
        from review_event own
        join review_event said on said.case_id = own.case_id and said.id <= own.id
        where own.command_id = ${commandId} and own.command_id <> ''
        order by said.id`,
  );
}
