import { column, execute, many, sql, type Queryable } from "#kernel/postgres/query.ts";
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

/** An account as platform manages it; the operation that has created it is empty for one that was registered. */
export type ManagedAccount = Pick<KnownAccount, "login" | "kind"> & { readonly operationId: string };

/** The logins of those that have this role here, or whose provisioning has not ended or was refused: then they have none. */
export async function listRecorded(db: Queryable, accounts: readonly ManagedAccount[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select managed.login
        from unnest(${accounts.map(({ login }) => login)}::text[], ${accounts.map(({ kind }) => kind)}::text[],
                    ${accounts.map(({ operationId }) => operationId)}::text[]) as managed (login, kind, operation_id)
        where exists (select from account where account.login = managed.login and account.kind = managed.kind)
           or exists (
             select from provisioning where provisioning.operation_id = managed.operation_id and state in ('PENDING', 'FAILED')
           )`,
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
