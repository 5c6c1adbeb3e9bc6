import { execute, many, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type AccountKind = "MASTER" | "PAYMENT" | "INVESTOR";

export type KnownAccount = {
  readonly login: string;
  readonly kind: AccountKind;
  readonly id: bigint;
  readonly name: string;
};

/** Role, id and name of each login; unknown ones are left out. A payment account, also a former one, has the id and name of its Master. */
export async function findAccounts(db: Queryable, logins: readonly string[]): Promise<KnownAccount[]> {
  return await many<KnownAccount>(
    db,
    sql`select account.login, account.kind, coalesce(master.id, former.id, investor.id, 0) as id,
               coalesce(master.name, former.name, investor.name, '') as name
        from account
        left join master on master.login = account.login or master.payment_login = account.login
        left join investor on investor.login = account.login
        left join lateral (
          select master.id, master.name
          from payment_account_change join master on master.id = master_id
          where account.kind = 'PAYMENT' and (from_login = account.login or to_login = account.login)
          order by payment_account_change.id desc
          limit 1
        ) as former on true
        where account.login = any (${logins}::text[])`,
  );
}

/** Fails on account_pkey when a login has a role already. */
export async function insertAccounts(
  tx: Transaction,
  accounts: readonly { login: string; kind: AccountKind }[],
): Promise<void> {
  await execute(
    tx,
    sql`insert into account (login, kind)
        select * from unnest(${accounts.map(({ login }) => login)}::text[], ${accounts.map(({ kind }) => kind)}::text[])`,
  );
}

/** False when the command was applied before. A concurrent call with the same id waits for the commit of the first one. */
export async function insertAccountUpdate(tx: Transaction, commandId: string, at: Date): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`insert into account_update (command_id, applied_at) values (${commandId}, ${at}) on conflict do nothing`,
  );
}

/** Whether the command was applied. */
export async function hasAccountUpdate(db: Queryable, commandId: string): Promise<boolean> {
  return await matchesRow(db, sql`select command_id from account_update where command_id = ${commandId}`);
}
