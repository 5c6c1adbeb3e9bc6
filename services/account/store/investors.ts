import { execute, fragment, many, maybeOne, one, sql, withoutNulls, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { insertAccounts } from "./accounts.ts";
import type { Investor, NewInvestor } from "../domain/master.ts";
import type { Profile } from "../domain/profile.ts";
import { type AccountPage, withProfiles } from "./profiles.ts";

const INVESTORS = fragment`select id, login, name, created_at as "createdAt" from investor`;

/** Fails on account_pkey when the login has a role already. */
export async function insertInvestor(tx: Transaction, investor: NewInvestor): Promise<Investor> {
  const { login, name, createdAt, commandId } = investor;
  await insertAccounts(tx, [{ login, kind: "INVESTOR" }]);
  return await one<Investor>(
    tx,
    sql`insert into investor (login, name, created_at, command_id)
        values (${login}, ${name}, ${createdAt}, nullif(${commandId}, ''))
        returning id, login, name, created_at as "createdAt"`,
  );
}

export async function findInvestorById(db: Queryable, id: bigint): Promise<Investor | undefined> {
  return await maybeOne<Investor>(db, sql`${INVESTORS} where id = ${id}`);
}

export async function listInvestorsByLogin(db: Queryable, logins: readonly string[]): Promise<Investor[]> {
  return await many<Investor>(db, sql`${INVESTORS} where login = any(${logins}::text[])`);
}

/** The Investor that the command registered. */
export async function findInvestorByCommand(db: Queryable, commandId: string): Promise<Investor | undefined> {
  return await maybeOne<Investor>(db, sql`${INVESTORS} where command_id = ${commandId}`);
}

export async function listInvestors(db: Queryable, page: AccountPage): Promise<(Investor & Profile)[]> {
  return (await many<Investor & Profile>(db, withProfiles(INVESTORS, page))).map(withoutNulls);
}

/** An Investor whose names were erased keeps none. */
export async function renameInvestor(tx: Transaction, login: string, name: string): Promise<void> {
  await execute(tx, sql`select rename_investor(${login}, ${name})`);
}

/** Until the end of the transaction no erasure of the Investor begins to erase; one that has begun is awaited. */
export async function lockAgainstErasure(tx: Transaction, login: string): Promise<void> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${login}, 0))`);
}
