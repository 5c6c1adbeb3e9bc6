import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type KnownInvestor = { readonly login: string; readonly masterLogin: string | undefined };

/** Facts that were asked for: events that came in the meantime are newer. */
export async function addInvestor(db: Queryable, { login, masterLogin }: KnownInvestor): Promise<void> {
  await execute(
    db,
    sql`insert into known_investor (login, master_login) values (${login}, ${masterLogin}) on conflict do nothing`,
  );
}

/** Cents. */
export async function addMaster(db: Queryable, login: string, minDeposit: bigint): Promise<void> {
  await execute(
    db,
    sql`insert into known_master (login, min_deposit_minor) values (${login}, ${minDeposit}) on conflict do nothing`,
  );
}

/** Each Investor once. */
export async function saveFollowings(tx: Transaction, followings: readonly KnownInvestor[]): Promise<void> {
  await execute(
    tx,
    sql`insert into known_investor (login, master_login)
        select login, master_login
        from unnest(
          ${followings.map(({ login }) => login)}::text[], ${followings.map(({ masterLogin }) => masterLogin)}::text[]
        ) as following (login, master_login)
        on conflict (login) do update set master_login = excluded.master_login`,
  );
}

/** Each Master once, with its minimum deposit in cents. */
export async function saveMasters(tx: Transaction, masters: ReadonlyMap<string, bigint>): Promise<void> {
  await execute(
    tx,
    sql`insert into known_master (login, min_deposit_minor)
        select login, minimum
        from unnest(
          ${[...masters.keys()]}::text[], ${[...masters.values()]}::bigint[]
        ) as changed (login, minimum)
        on conflict (login) do update set min_deposit_minor = excluded.min_deposit_minor`,
  );
}
