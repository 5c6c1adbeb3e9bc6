import { execute, many, type Queryable, sql } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";
import type { ReviewEvent } from "./review.ts";

/** Inserts an event, which is never changed afterwards. `commandId` is empty when no command caused it. */
export async function insertReviewEvent(
  tx: Transaction,
  { caseId, commandId }: { readonly caseId: bigint; readonly commandId: string },
  { event, action, dealId, note, actor, keyId, at }: ReviewEvent,
): Promise<void> {
  await execute(
    tx,
    sql`insert into review_event (case_id, event, action, deal_id, note, actor, key_id, recorded_at, command_id)
        values (${caseId}, ${event}, ${action}, ${dealId}, ${note}, ${actor}, ${keyId}, ${at}, ${commandId})`,
  );
}

/** The events of a case up to the one that the command recorded, in their order; none when it has recorded none. */
export async function listReviewEventsUntil(
  db: Queryable,
  commandId: string,
): Promise<(ReviewEvent & { caseId: bigint })[]> {
  return await many(
    db,
    sql`select recorded.case_id as "caseId", recorded.event, recorded.action, recorded.deal_id as "dealId", recorded.note, recorded.actor,
               recorded.key_id as "keyId",
               recorded.recorded_at as at
        from review_event own
        join review_event recorded on recorded.case_id = own.case_id and recorded.id <= own.id
        where own.command_id = ${commandId} and own.command_id <> ''
        order by recorded.id`,
  );
}
