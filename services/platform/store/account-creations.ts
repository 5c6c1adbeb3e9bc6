import { execute, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Role } from "../domain/role.ts";

/** A request to create an account under a login that was allocated for it. */
export type Creation = {
  readonly key: string;
  readonly role: Role;
  readonly group: string;
  readonly login: string;
  readonly isCreated: boolean;
};

type CreationRow = { key: string; role: Role; platform_group: string; login: string; is_created: boolean };

export type LoginRange = { readonly first: bigint; readonly last: bigint };

export async function findCreation(db: Queryable, key: string): Promise<Creation | undefined> {
  const row = await maybeOne<CreationRow>(
    db,
    sql`select key, role, platform_group, login, created_at is not null as is_created
        from account_creation
        where key = ${key}`,
  );
  return row && { key, role: row.role, group: row.platform_group, login: row.login, isCreated: row.is_created };
}

/** Allocates the next unused login; undefined when the range is used up. The row stays locked until commit. */
export async function takeLogin(tx: Transaction, { first, last }: LoginRange): Promise<string | undefined> {
  await execute(tx, sql`insert into login_allocation (next) values (${first}) on conflict (is_only) do nothing`);
  const row = await maybeOne<{ login: bigint }>(
    tx,
    sql`with current as (
          select case when next between ${first} and ${last} + 1 then next else ${first} end as from_login
          from login_allocation
          for update
        ), free as (
          select min(candidate) as login
          from current, generate_series(from_login, least(from_login + 10000, ${last}::bigint)) as candidate
          where not exists (select from account where account.login = candidate::text)
            and not exists (select from account_creation where account_creation.login = candidate::text)
        )
        update login_allocation
        set next = login + 1
        from free
        where login is not null
        returning login`,
  );
  return row?.login.toString();
}

/** False when another request has recorded the key. */
export async function insertCreation(tx: Transaction, creation: Omit<Creation, "isCreated">): Promise<boolean> {
  const inserted = await execute(
    tx,
    sql`insert into account_creation (key, role, platform_group, login)
        values (${creation.key}, ${creation.role}, ${creation.group}, ${creation.login})
        on conflict (key) do nothing`,
  );
  return inserted === 1;
}

/** Gives the request another login, because the platform uses the first one for another account. */
export async function changeLogin(tx: Transaction, { key, login }: Creation, to: string): Promise<void> {
  await execute(
    tx,
    sql`update account_creation
        set login = ${to}
        where key = ${key} and login = ${login} and created_at is null`,
  );
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
  const row = await maybeOne(db, sql`select from account_creation where login = ${login} and created_at is null`);
  return row !== undefined;
}
