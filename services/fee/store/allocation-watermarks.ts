import { execute, fragment, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";

export type AllocationWatermark = { readonly masterLogin: string; readonly tries: number };

/** Raises the watermarks of some Masters; a watermark never decreases. */
export async function raiseWatermarks(tx: Transaction, received: ReadonlyMap<string, bigint>): Promise<void> {
  const logins = [...received.keys()].toSorted();
  await many(
    tx,
    sql`insert into allocation_watermark (master_login, received_number, next_try_at)
        select login, number, clock_timestamp()
        from unnest(${logins}::text[], ${logins.map((login) => received.get(login))}::bigint[]) as received (login, number)
        order by login
        on conflict (master_login) do update
        set received_number = greatest(allocation_watermark.received_number, excluded.received_number)`,
  );
}

/** A Master whose reading a crash has ended is read again after this time, so that its week is decided and paid. */
const READING_CLAIM_MS = 5_000;

/** Masters with unread allocations. Those whose fees are stopped wait. */
export const readingQueue = workQueue<AllocationWatermark, string>({
  table: fragment`allocation_watermark`,
  key: fragment`master_login`,
  keyType: fragment`text`,
  isOpen: fragment`work.received_number > coalesce(
    (select read_number from fee_master where fee_master.master_login = work.master_login), 0
  )`,
  mayStart: fragment`not exists (
    select from fee_master
    where fee_master.master_login = work.master_login and (stopped_reason is not null or break_reason is not null)
  )`,
  columns: fragment`master_login as "masterLogin"`,
  claimMs: READING_CLAIM_MS,
});

export async function endReading(db: Queryable, login: string): Promise<void> {
  await execute(
    db,
    sql`update allocation_watermark
        set next_try_at = clock_timestamp(), tries = 0, reason = null
        where master_login = ${login}`,
  );
}
