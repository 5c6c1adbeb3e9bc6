import { execute, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";

export async function isReleased(db: Queryable, lockOwner: string): Promise<boolean> {
  const row = await maybeOne(db, sql`select from released_lock where lock_owner = ${lockOwner}`);
  return row !== undefined;
}

/** The leg that has to end before the lock is granted; without one it is granted. */
export type Claim = { readonly behind: LegNumber | undefined };

/**
 * Claims the lock, after which later legs wait, and grants it when every earlier leg has ended: one with an unknown outcome, and
 * one queued before the lock. Its number comes from the leg sequence, so both have one order. The account is locked. Undefined
 * when another owner has the lock, or when this one has released it.
 */
export async function claimLock(tx: Transaction, login: string, lockOwner: string): Promise<Claim | undefined> {
  const claimed = await maybeOne<{ behind: bigint | null }>(
    tx,
    sql`update account
        set locked_by = ${lockOwner}, lock_number = coalesce(lock_number, nextval('leg_number')),
            lock_granted_at = case when behind is null then coalesce(lock_granted_at, clock_timestamp()) else lock_granted_at end
        from (
          select (
            select leg.number
            from leg
            join transfer on transfer.id = transfer_id
            join account as holder on holder.login = leg.login
            where leg.login = ${login} and is_exclusive
              and (state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN')
                   or (state = 'INTENT' and (holder.lock_number is null or leg.number < holder.lock_number)
                       and (attempt > 0 or send_before is null or send_before > clock_timestamp())))
            order by leg.number
            limit 1
          ) as behind
        ) as queue
        where login = ${login} and (locked_by is null or locked_by = ${lockOwner})
          and not exists (select from released_lock where lock_owner = ${lockOwner})
        returning behind`,
  );
  return claimed && { behind: claimed.behind === null ? undefined : legNumber(claimed.behind) };
}

/** Withdraws a claim that was never granted; a granted lock stays. */
export async function withdrawClaim(db: Queryable, login: string, lockOwner: string): Promise<void> {
  await execute(
    db,
    sql`update account
        set locked_by = null, lock_number = null
        where login = ${login} and locked_by = ${lockOwner} and lock_granted_at is null`,
  );
}

/** Releases the lock for good; one that another owner has stays. The account is locked. */
export async function releaseLock(
  tx: Transaction,
  { login, lockOwner }: { readonly login: string; readonly lockOwner: string },
): Promise<void> {
  await execute(
    tx,
    sql`with recorded as (
          insert into released_lock (lock_owner, login) values (${lockOwner}, ${login}) on conflict (lock_owner) do nothing
        )
        update account
        set locked_by = null, lock_number = null, lock_granted_at = null
        where login = ${login} and locked_by = ${lockOwner}`,
  );
}
