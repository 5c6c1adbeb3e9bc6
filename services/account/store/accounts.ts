import { execute, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type AccountKind = "MASTER" | "PAYMENT" | "INVESTOR";

export type KnownAccount = {
  readonly login: string;
  readonly kind: AccountKind;
  readonly id: bigint;
  readonly name: string;
};

/** Role, id and name of each login; unknown ones are left out. A payment account has the id and name of its Master. */
export async function findAccounts(db: Queryable, logins: readonly string[]): Promise<KnownAccount[]> {
  return await many<KnownAccount>(
    db,
    sql`select account.login, account.kind, coalesce(master.id, investor.id) as id, coalesce(master.name, investor.name) as name
        from account
        left join master on master.login = account.login or master.payment_login = account.login
        left join investor on investor.login = account.login
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
