import { usd } from "#kernel/money.ts";
import { execute, many, maybeOne, one, sql, withoutNulls, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Master, MasterChange, NewMaster } from "../domain/master.ts";
import { insertAccounts } from "./accounts.ts";

export type MasterRow = Omit<Master, "minDeposit"> & { minDepositMinor: bigint };

/** Registers trading and payment account together. Fails on account_pkey when one of them has a role already. */
export async function insertMaster(tx: Transaction, master: NewMaster): Promise<Master> {
  await insertAccounts(tx, [
    { login: master.login, kind: "MASTER" },
    { login: master.paymentLogin, kind: "PAYMENT" },
  ]);
  const { id } = await one<{ id: bigint }>(
    tx,
    sql`insert into master (login, payment_login, name, strategy_name, strategy, min_deposit_minor, accepting_since,
                            created_at, command_id)
        values (${master.login}, ${master.paymentLogin}, ${master.name}, ${master.strategyName}, ${master.strategy},
                ${master.minDeposit.minor}, ${master.createdAt}, ${master.createdAt}, nullif(${master.commandId}, ''))
        returning id`,
  );
  return masterOf(await one<MasterRow>(tx, sql`select * from master_row where id = ${id}`));
}

export async function findMasterById(db: Queryable, id: bigint): Promise<Master | undefined> {
  const row = await maybeOne<MasterRow>(db, sql`select * from master_row where id = ${id}`);
  return row && masterOf(row);
}

export async function listMastersById(db: Queryable, ids: readonly bigint[]): Promise<Master[]> {
  const rows = await many<MasterRow>(db, sql`select * from master_row where id = any(${ids}::bigint[])`);
  return rows.map(masterOf);
}

export async function listMastersByLogin(db: Queryable, logins: readonly string[]): Promise<Master[]> {
  const rows = await many<MasterRow>(db, sql`select * from master_row where login = any(${logins}::text[])`);
  return rows.map(masterOf);
}

/** The Master that the command registered. */
export async function findMasterByCommand(db: Queryable, commandId: string): Promise<Master | undefined> {
  const row = await maybeOne<MasterRow>(
    db,
    sql`select * from master_row where id = (select id from master where command_id = ${commandId})`,
  );
  return row && masterOf(row);
}

/** Undefined fields keep their value. Undefined when no Master has the id. */
export async function updateMaster(
  db: Queryable,
  id: bigint,
  change: MasterChange,
  at: Date,
): Promise<Master | undefined> {
  const { acceptingInvestors: accepting } = change;
  await execute(
    db,
    sql`update master
        set name = coalesce(${change.name}, name),
            strategy_name = coalesce(${change.strategyName}, strategy_name),
            strategy = coalesce(${change.strategy}, strategy),
            min_deposit_minor = coalesce(${change.minDeposit?.minor}, min_deposit_minor),
            accepting_since = case when ${accepting}::boolean <> accepting_investors then ${at}::timestamptz else accepting_since end,
            accepting_investors = coalesce(${accepting}::boolean, accepting_investors)
        where id = ${id}`,
  );
  return await findMasterById(db, id);
}

/** Ascending by id. */
export async function listMasters(db: Queryable, page: { afterId: bigint; limit: number }): Promise<Master[]> {
  const rows = await many<MasterRow>(
    db,
    sql`select * from master_row where id > ${page.afterId} order by id limit ${page.limit}`,
  );
  return rows.map(masterOf);
}

export function masterOf<Row extends MasterRow>(row: Row): Omit<Row, "minDepositMinor"> & Pick<Master, "minDeposit"> {
  const { minDepositMinor, ...master } = withoutNulls(row);
  return { ...master, minDeposit: usd(minDepositMinor) };
}
