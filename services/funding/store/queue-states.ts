import { execute, fragment, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type WaitingState = "WAITING" | "RUNNING";

/** Subscription reports the end of one that waits. If the report is lost, the recovery job asks this long after its expiry. */
const AFTER_EXPIRY_MS = 30_000;
const AFTER_EXPIRY = fragment`queue_until + ${AFTER_EXPIRY_MS} * interval '1 millisecond'`;

/** The answer of a try that has let a withdrawal wait; the feed may have brought later news, which makes it due. */
export async function markWaiting(db: Queryable, id: bigint, state: WaitingState): Promise<void> {
  await execute(
    db,
    sql`update cashflow
        set queue_state = case queue_state when 'WANTED' then ${state} else queue_state end, next_try_at = ${AFTER_EXPIRY}
        where id = ${id} and state = 'RECORDED' and queue_state is not null
          and (queue_state = 'WANTED' or next_try_at > clock_timestamp())`,
  );
}

/** What subscription has reported of a withdrawal. */
export type Progress = {
  readonly operationId: string;
  /** Undefined when nothing but its end was reported. */
  readonly state: WaitingState | undefined;
  readonly hasEnded: boolean;
};

/** Each withdrawal once. One that has ended there is due: the recovery job asks how. Its end may have been recorded before. */
export async function saveProgress(tx: Transaction, progress: readonly Progress[]): Promise<void> {
  await execute(
    tx,
    sql`update cashflow
        set queue_state = case when queue_state is not null then coalesce(reported, queue_state) end,
            next_try_at = case when has_ended then clock_timestamp()
                               when queue_state = 'WANTED' then ${AFTER_EXPIRY}
                               else next_try_at end
        from unnest(
          ${progress.map(({ operationId }) => operationId)}::text[],
          ${progress.map(({ state }) => state)}::text[],
          ${progress.map(({ hasEnded }) => hasEnded)}::boolean[]
        ) as progress (operation, reported, has_ended)
        where operation_id = operation and action = 'withdraw'`,
  );
}
