import assert from "node:assert/strict";
import {
  execute,
  type Fragment,
  fragment,
  many,
  one,
  sql,
  withoutNulls,
  type Queryable,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Master, MasterChange, NewMaster } from "../domain/master.ts";
import type { Profile } from "../domain/profile.ts";
import { insertAccounts } from "./accounts.ts";
import { type AccountPage, withProfiles } from "./profiles.ts";

const MASTERS = fragment`
  select id, login, payment_login as "paymentLogin", name, strategy_name as "strategyName", strategy,
         min_deposit_minor as "minDeposit", accepting_investors as "acceptingInvestors",
         accepting_since as "acceptingSince", created_at as "createdAt"
  from master`;

async function selectMasters(db: Queryable, which: Fragment): Promise<Master[]> {
  return (await many<Master>(db, sql`${MASTERS} where ${which}`)).map(withoutNulls);
}

/** Registers trading and payment account together. Fails on account_pkey when one of them has a role already. */
export async function insertMaster(tx: Transaction, master: NewMaster): Promise<Master> {
  await insertAccounts(tx, [
    { login: master.login, kind: "MASTER" },
    { login: master.paymentLogin, kind: "PAYMENT" },
  ]);
  const { login } = master;
  await execute(
    tx,
    sql`insert into master (login, payment_login, name, strategy_name, strategy, min_deposit_minor, accepting_since,
                            created_at, command_id)
        values (${master.login}, ${master.paymentLogin}, ${master.name}, ${master.strategyName}, ${master.strategy},
                ${master.minDeposit}, ${master.createdAt}, ${master.createdAt}, nullif(${master.commandId}, ''))`,
  );
  return withoutNulls(await one<Master>(tx, sql`${MASTERS} where login = ${login}`));
}

export async function findMasterById(db: Queryable, id: bigint): Promise<Master | undefined> {
  return (await selectMasters(db, fragment`id = ${id}`))[0];
}

export async function listMastersById(db: Queryable, ids: readonly bigint[]): Promise<Master[]> {
  return await selectMasters(db, fragment`id = any(${ids}::bigint[])`);
}

export async function listMastersByLogin(db: Queryable, logins: readonly string[]): Promise<Master[]> {
  return await selectMasters(db, fragment`login = any(${logins}::text[])`);
}

/** The Master that the command registered. */
export async function findMasterByCommand(db: Queryable, commandId: string): Promise<Master | undefined> {
  return (await selectMasters(db, fragment`command_id = ${commandId}`))[0];
}

/** Undefined fields keep their value. */
export async function updateMaster(db: Queryable, id: bigint, change: MasterChange, at: Date): Promise<Master> {
  const { acceptingInvestors: accepting } = change;
  await execute(
    db,
    sql`update master
        set name = coalesce(${change.name}, name),
            strategy_name = coalesce(${change.strategyName}, strategy_name),
            strategy = coalesce(${change.strategy}, strategy),
            min_deposit_minor = coalesce(${change.minDeposit}, min_deposit_minor),
            accepting_since = case when ${accepting}::boolean <> accepting_investors then ${at}::timestamptz else accepting_since end,
            accepting_investors = coalesce(${accepting}::boolean, accepting_investors)
        where id = ${id}`,
  );
  const master = await findMasterById(db, id);
  assert(master !== undefined, "a Master is never deleted");
  return master;
}

export async function listMasters(db: Queryable, page: AccountPage): Promise<(Master & Profile)[]> {
  return (await many<Master & Profile>(db, withProfiles(MASTERS, page))).map(withoutNulls);
}
