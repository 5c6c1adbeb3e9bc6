import { execute, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export async function isReleased(db: Queryable, lockOwner: string): Promise<boolean> {
  const row = await maybeOne(db, sql`select from released_lock where lock_owner = ${lockOwner}`);
  return row !== undefined;
}

/** Claims the lock: later legs wait. Its number comes from the leg sequence, so both have one order. */
export async function claimLock(tx: Transaction, login: string, lockOwner: string): Promise<void> {
  await one(
    tx,
    sql`update account
        set locked_by = ${lockOwner}, lock_number = nextval('leg_number'), lock_granted_at = null
        where login = ${login} and locked_by is null
        returning login`,
  );
}

export async function grantLock(tx: Transaction, login: string, lockOwner: string): Promise<void> {
  await one(
    tx,
    sql`update account
        set lock_granted_at = coalesce(lock_granted_at, clock_timestamp())
        where login = ${login} and locked_by = ${lockOwner}
        returning login`,
  );
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
