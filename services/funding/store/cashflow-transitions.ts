import { execute, fragment, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import { recordedAs, type Refusal } from "#kernel/values/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { Doubt } from "../domain/cashflow.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type Posted = {
  readonly id: bigint;
  /** Undefined when nothing was moved. */
  readonly dealId: bigint | undefined;
  readonly at: Date;
};

/** Changes nothing about cashflows that are finished already. */
export async function markPosted(db: Queryable, posted: readonly Posted[]): Promise<void> {
  await execute(
    db,
    sql`update cashflow
        set state = 'POSTED', doubt = null, deal_id = deal, finished_at = at
        from unnest(
          ${posted.map(({ id }) => id)}::bigint[],
          ${posted.map(({ dealId }) => dealId)}::bigint[],
          ${posted.map(({ at }) => at)}::timestamptz[]
        ) as executed (executed_id, deal, at)
        where id = executed_id and state = 'RECORDED'`,
  );
}

/** Changes nothing about a cashflow that is finished already. */
export async function markRefused(
  db: Queryable,
  id: bigint,
  { refusal, at }: { refusal: Refusal; at: Date },
): Promise<void> {
  await execute(
    db,
    sql`update cashflow set state = 'REFUSED', doubt = null, refusal = ${recordedAs(refusal)}::jsonb, finished_at = ${at}
        where id = ${id} and state = 'RECORDED'`,
  );
}

/** As markRefused, but only while neither the recovery job nor a repetition works on it: no process has sent it. */
export async function markNeverSent(
  db: Queryable,
  id: bigint,
  { refusal, at }: { refusal: Refusal; at: Date },
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update cashflow set state = 'REFUSED', refusal = ${recordedAs(refusal)}::jsonb, finished_at = ${at}
        where id = ${id} and state = 'RECORDED' and tries = 0`,
  );
}

/** From now on several requests work on the operation, so none of them may conclude alone that nothing was sent. */
export async function markRepeated(db: Queryable, ids: readonly bigint[]): Promise<void> {
  await execute(
    db,
    sql`update cashflow set tries = greatest(tries, 1) where id = any (${ids}::bigint[]) and state = 'RECORDED'`,
  );
}

export async function markDoubt(db: Queryable, id: bigint, doubt: Doubt): Promise<void> {
  await execute(db, sql`update cashflow set doubt = ${doubt} where id = ${id} and state = 'RECORDED'`);
}

/** Open operations; each is due when its caller has stopped waiting, and after a pause when a try has failed. */
export const cashflowQueue = workQueue<{ readonly id: bigint; readonly tries: number }>({
  table: fragment`cashflow`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state = 'RECORDED'`,
  columns: fragment`id`,
});

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

/** A deposit or withdrawal that platform has imported. */
export type ImportedCashflow = {
  readonly operationId: string;
  readonly action: "deposit" | "withdraw";
  readonly login: string;
  /** Cents, positive. */
  readonly amountMinor: bigint;
  readonly comment: string;
  readonly dealId: bigint;
  readonly at: Date;
};

/** Records an executed operation, unless one with its deal is recorded: this database may not have lost what platform has. */
export async function insertImported(tx: Transaction, imported: ImportedCashflow): Promise<void> {
  const { operationId, action, login, amountMinor, comment, dealId, at } = imported;
  const isFirst = action === "deposit" ? false : undefined;
  const minimum = action === "deposit" ? 0n : undefined;
  await execute(
    tx,
    sql`insert into cashflow (operation_id, action, login, amount_minor, comment, state, deal_id, is_imported, deadline,
                              created_at, finished_at, next_try_at, first_deposit_checked, min_deposit_minor)
        select ${operationId}, ${action}, ${login}, ${amountMinor}, ${comment}, 'POSTED', ${dealId}, true, ${at}::timestamptz,
               ${at}, ${at}, ${at}, ${isFirst}::boolean, ${minimum}::bigint
        where not exists (select from cashflow where login = ${login} and deal_id = ${dealId})
        on conflict do nothing`,
  );
}
