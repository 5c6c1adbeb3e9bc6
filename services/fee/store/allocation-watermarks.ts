import { execute, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type AllocationWatermark = { readonly masterLogin: string; readonly tries: number };

/** Raises the watermarks of some Masters; a watermark never decreases. */
export async function raiseWatermarks(tx: Transaction, received: ReadonlyMap<string, bigint>, at: Date): Promise<void> {
  const logins = [...received.keys()].toSorted();
  await many(
    tx,
    sql`insert into allocation_watermark (master_login, received_number, next_read_at)
        select login, number, ${at}
        from unnest(${logins}::text[], ${logins.map((login) => received.get(login))}::bigint[]) as received (login, number)
        order by login
        on conflict (master_login) do update
        set received_number = greatest(allocation_watermark.received_number, excluded.received_number)`,
  );
}

/** Claims Masters with unread allocations: another process claims them only after `until`. */
export async function claimMastersToRead(
  db: Queryable,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<AllocationWatermark[]> {
  return many<AllocationWatermark>(
    db,
    sql`update allocation_watermark
        set next_read_at = ${until}, tries = tries + 1
        where master_login in (
          select received.master_login
          from allocation_watermark received
          left join fee_master master on master.master_login = received.master_login
          where received.next_read_at <= ${now} and received.received_number > coalesce(master.read_number, 0)
            and master.stopped_reason is null and master.break_reason is null
          order by received.next_read_at
          limit ${limit}
          for no key update of received skip locked
        )
        returning master_login as "masterLogin", tries`,
  );
}

export async function endReading(db: Queryable, login: string, now: Date): Promise<void> {
  await execute(
    db,
    sql`update allocation_watermark set next_read_at = ${now}, tries = 0 where master_login = ${login}`,
  );
}

export async function postponeReading(db: Queryable, login: string, until: Date): Promise<void> {
  await execute(db, sql`update allocation_watermark set next_read_at = ${until} where master_login = ${login}`);
}
