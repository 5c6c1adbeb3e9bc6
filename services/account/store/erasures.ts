import {
  execute,
  fragment,
  matchesRow,
  maybeOne,
  one,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import { ERASED, type Erasure } from "../domain/erasure.ts";

export async function findErasure(db: Queryable, login: string): Promise<Erasure | undefined> {
  const row = await maybeOne<Erasure>(
    db,
    sql`select login, requested_by as "requestedBy", requested_at as "requestedAt", erased_at as "erasedAt",
               on_platform as "onPlatform"
        from erasure where login = ${login}`,
  );
  return row && withoutNulls(row);
}

export type NewErasure = Pick<Erasure, "login" | "requestedBy" | "requestedAt">;

/** False when it is recorded already. `recoverInMs` after now the recovery job continues it. */
export async function insertErasure(
  tx: Transaction,
  { login, requestedBy, requestedAt }: NewErasure,
  recoverInMs: number,
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`insert into erasure (login, requested_by, requested_at, next_try_at)
        values (${login}, ${requestedBy}, ${requestedAt}, clock_timestamp() + ${recoverInMs} * interval '1 millisecond')
        on conflict (login) do nothing`,
  );
}

/**
 * Everything that this schema has of the person of a login whose erasure is recorded: the names, the profile, the request for the account, the passwords, and
 * refused requests for accounts under the same e-mail address, which are of no use any more.
 */
export async function eraseRows(tx: Transaction, login: string): Promise<void> {
  await execute(tx, sql`select erase_investor_name(${login})`);
  await execute(
    tx,
    sql`update profile
        set email = case when operation_id is not null then ${ERASED} end, labels = null
        where login = ${login}`,
  );
  await execute(
    tx,
    sql`delete from credential
        using provisioning
        where provisioning.login = ${login} and kind = 'INVESTOR'
          and owner = 'account:investor:' || provisioning.operation_id`,
  );
  await execute(
    tx,
    sql`update provisioning
        set first_name = ${ERASED}, last_name = ${ERASED}, name = ${ERASED}, email = ${ERASED}
        where email = (select email from provisioning where login = ${login} and email <> ${ERASED})
          and state = 'FAILED' and kind = 'INVESTOR' and is_tidied`,
  );
  await execute(
    tx,
    sql`update provisioning
        set first_name = ${ERASED}, last_name = ${ERASED}, name = ${ERASED}, email = ${ERASED}
        where login = ${login} and kind = 'INVESTOR'`,
  );
}

/** The first end counts, also when two replicas work on it. */
export async function markErased(db: Queryable, login: string, onPlatform: boolean, at: Date): Promise<void> {
  await execute(
    db,
    sql`update erasure set erased_at = ${at}, on_platform = ${onPlatform}, reason = null
        where login = ${login} and erased_at is null`,
  );
}

/** How many the trading platform has not confirmed, and since when. Never below 0, even when the clocks of the service and the database differ. */
export async function readOpenErasures(db: Queryable): Promise<{ readonly count: number; readonly seconds: number }> {
  return await one(
    db,
    sql`select count(*)::integer as count,
               coalesce(greatest(extract(epoch from clock_timestamp() - min(requested_at)), 0), 0)::float8 as seconds
        from erasure where erased_at is null`,
  );
}

/** Longer than an attempt, so that two replicas never work on one erasure at once. */
const CLAIM_MS = 30_000;

/** Erasures that the trading platform has not confirmed. */
export const erasureQueue = workQueue<{ readonly login: string; readonly tries: number }, string>({
  table: fragment`erasure`,
  key: fragment`login`,
  keyType: fragment`text`,
  isOpen: fragment`work.erased_at is null`,
  columns: fragment`login`,
  claimMs: CLAIM_MS,
});
