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

/** Releases locks for good; one that another owner has stays. */
export async function releaseLocks(
  tx: Transaction,
  locks: readonly { readonly login: string; readonly lockOwner: string }[],
): Promise<void> {
  await execute(
    tx,
    sql`with released as (
          select login, lock_owner
          from unnest(
            ${locks.map(({ login }) => login)}::text[], ${locks.map(({ lockOwner }) => lockOwner)}::text[]
          ) as lock (login, lock_owner)
        ), recorded as (
          insert into released_lock (lock_owner, login)
          select lock_owner, login from released
          on conflict (lock_owner) do nothing
        )
        update account
        set locked_by = null, lock_number = null, lock_granted_at = null
        from released
        where account.login = released.login and locked_by = lock_owner`,
  );
}
