import { execute, matchesRow, maybeOne, one, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { CREATION_MS } from "../deps.ts";
import type { Role } from "../domain/role.ts";

type NewCreation = { readonly key: string; readonly role: Role; readonly group: string; readonly login: string };

/** A request to create an account under a login that was allocated for it. */
export type Creation = NewCreation & {
  readonly isCreated: boolean;
  /** The latest command that may have created the account; undefined: there is none. */
  readonly sentAt: Date | undefined;
};

/** Logins that one statement looks through: all of them, though the first one is free nearly always. */
const CANDIDATES = 100n;

export type LoginRange = { readonly first: bigint; readonly last: bigint };

export async function findCreation(db: Queryable, key: string): Promise<Creation | undefined> {
  const row = await maybeOne<Creation>(
    db,
    sql`select key, role, platform_group as "group", login, created_at is not null as "isCreated", sent_at as "sentAt"
        from account_creation
        where key = ${key}`,
  );
  return row && withoutNulls(row);
}

/** Allocates the next unused login; undefined when the range is used up. The row stays locked until commit. */
export async function takeLogin(tx: Transaction, { first, last }: LoginRange): Promise<string | undefined> {
  await execute(tx, sql`insert into login_allocation (next) values (${first}) on conflict (is_only) do nothing`);
  for (;;) {
    const { login, next } = await one<{ login: bigint | null; next: bigint }>(
      tx,
      sql`with current as (
            select case when next between ${first} and ${last} + 1 then next else ${first} end as from_login
            from login_allocation
            for update
          ), page as (
            select from_login, least(from_login + ${CANDIDATES} - 1, ${last}::bigint) as to_login
            from current
          ), free as (
            select to_login, (
              select min(candidate)
              from generate_series(from_login, to_login) as candidate
              where not exists (select from account where account.login = candidate::text)
                and not exists (select from account_creation where account_creation.login = candidate::text)
            ) as login
            from page
          )
          update login_allocation
          set next = coalesce(login, to_login) + 1
          from free
          returning login, next`,
    );
    if (login !== null) return login.toString();
    if (next > last) return undefined;
  }
}

/** When another request has recorded the key, its login counts. */
export async function insertCreation(tx: Transaction, { key, role, group, login }: NewCreation): Promise<void> {
  await execute(
    tx,
    sql`insert into account_creation (key, role, platform_group, login)
        values (${key}, ${role}, ${group}, ${login})
        on conflict (key) do nothing`,
  );
}

/** Gives the request another login, because the platform uses the first one for another account. */
export async function changeLogin(tx: Transaction, { key, login }: Creation, to: string): Promise<void> {
  await execute(
    tx,
    sql`update account_creation
        set login = ${to}, requested_at = clock_timestamp(), sent_at = null
        where key = ${key} and login = ${login} and created_at is null`,
  );
}

/** As texts, which keep the microseconds. */
export type Sent = { readonly sentAt: string; readonly before: string | null };

/** Before a command is sent that may create the account. */
export async function markSent(db: Queryable, key: string): Promise<Sent> {
  return await one<Sent>(
    db,
    sql`with earlier as (select sent_at as before from account_creation where key = ${key} for update)
        update account_creation
        set sent_at = clock_timestamp()
        from earlier
        where key = ${key}
        returning sent_at::text as "sentAt", before::text`,
  );
}

/**
 * The command has created no account, and never will. Unless another one was sent since, what is known is what was known before it.
 * True when no command is left that may have created the account.
 */
export async function markNotSent(db: Queryable, key: string, { sentAt, before }: Sent): Promise<boolean> {
  const isLatest = await matchesRow(
    db,
    sql`update account_creation set sent_at = ${before}::timestamptz where key = ${key} and sent_at = ${sentAt}::timestamptz`,
  );
  return isLatest && before === null;
}

export async function markCreated(tx: Transaction, key: string): Promise<void> {
  await one(
    tx,
    sql`update account_creation
        set created_at = coalesce(created_at, clock_timestamp())
        where key = ${key}
        returning key`,
  );
}

export async function isBeingCreated(db: Queryable, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from account_creation
        where login = ${login} and created_at is null
          and requested_at > clock_timestamp() - ${CREATION_MS} * interval '1 millisecond'`,
  );
}

/** Operators have registered the account of a creation that has not ended. */
export async function isRegistered(db: Queryable, key: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from account_creation join account using (login) where key = ${key} and account_creation.created_at is null`,
  );
}
