import { execute, fragment, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import { recordedAs, type Refusal } from "#kernel/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { Doubt } from "../domain/cashflow.ts";

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
