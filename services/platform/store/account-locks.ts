import { column, execute, fragment, many, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Obstacle } from "../domain/account-obstacles.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";
import { NEXT_LEG_NUMBER } from "./database-identity.ts";

/** Those of the lock owners that have released their lock. */
export async function listReleased(db: Queryable, lockOwners: readonly string[]): Promise<ReadonlySet<string>> {
  if (lockOwners.length === 0) return new Set();
  const released = await column<string>(
    db,
    sql`select lock_owner from released_lock where lock_owner = any (${lockOwners}::text[])`,
  );
  return new Set(released);
}

/** Removes some lock owners that have released their lock before an instant, the oldest first; how many. */
export async function removeReleased(db: Queryable, before: Date, maxRows: number): Promise<number> {
  const { count } = await one<{ count: number }>(db, sql`select remove_released_locks(${before}, ${maxRows}) as count`);
  return count;
}

/** The account lock that a saga asks for. */
export type LockRequest = { readonly login: string; readonly lockOwner: string };

export type RequestedLock = {
  /** The leg that has to end before the lock is granted; without one it is granted. */
  readonly obstacle: LegNumber | undefined;
  /** Created by this service: it could not trade from the beginning. */
  readonly isCreated: boolean;
  readonly log: { readonly balanceMinor: bigint; readonly hasPositions: boolean };
};

/** Of the login `of_login`: the first leg that has to end before a lock is granted. */
const LEG_BEFORE_LOCK = fragment`
            select leg.number
            from leg
            join transfer on transfer.id = transfer_id
            join account as holder on holder.login = leg.login
            where leg.login = of_login and is_exclusive
              and (state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN')
                   or (state = 'INTENT' and holder.lock_granted_at is null and (holder.lock_number is null or leg.number < holder.lock_number)
                       and (attempt > 0 or send_before is null or send_before > clock_timestamp())))
            order by leg.number
            limit 1`;

/** Of a leg: it was sent, and its outcome is being determined, by the service or in a manual review. */
export const IS_OUTCOME_OPEN = fragment`coalesce('UNKNOWN' in (state, came_from), false)`;

/** The leg that a lock of the login would wait for if it were requested now. */
export async function findLegBeforeLock(db: Queryable, login: string): Promise<Obstacle | undefined> {
  const row = await maybeOne<{ number: bigint; isOutcomeOpen: boolean }>(
    db,
    sql`select number, ${IS_OUTCOME_OPEN} as "isOutcomeOpen"
        from leg
        where number = (
          select before.number
          from unnest(${[login]}::text[]) as requested (of_login)
               cross join lateral (${LEG_BEFORE_LOCK}) as before
        )`,
  );
  return row && { ...row, number: legNumber(row.number) };
}

/**
 * Requests locks, after which later legs wait, and grants those for which every earlier leg has ended: one with an unknown outcome,
 * and one queued before the lock. Their numbers come from the leg sequence, so both have one order. The accounts are locked, one for
 * each request. Returned by login, without those that another owner has, or whose owner has released them, and without accounts that
 * are just given back their right to trade.
 */
export async function requestLocks(
  tx: Transaction,
  requests: readonly LockRequest[],
): Promise<ReadonlyMap<string, RequestedLock>> {
  if (requests.length === 0) return new Map();
  const rows = await many<RequestedRow>(
    tx,
    sql`update account
        set locked_by = asked.lock_owner, lock_number = coalesce(lock_number, ${NEXT_LEG_NUMBER}),
            lock_granted_at = case when obstacle is null then coalesce(lock_granted_at, clock_timestamp()) else lock_granted_at end
        from (
          select requested.*, (
            ${LEG_BEFORE_LOCK}
          ) as obstacle
          from unnest(
            ${requests.map(({ login }) => login)}::text[],
            ${requests.map(({ lockOwner }) => lockOwner)}::text[]
          ) as requested (of_login, lock_owner)
        ) as asked
        where login = asked.of_login and (locked_by is null or locked_by = asked.lock_owner)
          and (select released.login from released_lock as released where released.lock_owner = asked.lock_owner) is null
          and (
            select taken.login from taken_right as taken
            where taken.login = asked.of_login and taken.returning_until > clock_timestamp()
          ) is null
        returning login, obstacle, log_minor as "balanceMinor",
                  exists (select from account_creation as creation where creation.login = asked.of_login) as "isCreated",
                  exists (select from open_position as position where position.login = asked.of_login) as "hasPositions"`,
  );
  return new Map(
    rows.map(({ login, obstacle, isCreated, ...log }) => [
      login,
      { obstacle: obstacle === null ? undefined : legNumber(obstacle), isCreated, log },
    ]),
  );
}

type RequestedRow = {
  readonly login: string;
  readonly obstacle: bigint | null;
  readonly balanceMinor: bigint;
  readonly isCreated: boolean;
  readonly hasPositions: boolean;
};

/** Withdraws the request for a lock that was never granted; a granted lock stays. */
export async function withdrawRequest(db: Queryable, login: string, lockOwner: string): Promise<void> {
  await execute(
    db,
    sql`update account
        set locked_by = null, lock_number = null
        where login = ${login} and locked_by = ${lockOwner} and lock_granted_at is null`,
  );
}

/** Releases the lock for good; one that another owner has stays. The account is locked. */
export async function releaseLock(tx: Transaction, { login, lockOwner }: LockRequest): Promise<void> {
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
