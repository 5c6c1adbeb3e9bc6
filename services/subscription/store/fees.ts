import { keyHash } from "#kernel/values/key-hash.ts";
import { execute, many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** The key under which platform imports a fee whose transfer was lost: the comment of its deal has only the hash of its own key. */
export function importedFeeKey(key: string): string {
  return `imported:fee:${keyHash(key)}`;
}

export type FeeDebit = {
  readonly key: string;
  readonly login: string;
  readonly number: bigint;
  /** Negative. */
  readonly amount: bigint;
};

/** A key has one debit; a second log entry under it is a correction by platform and is ignored. */
export async function insertFeeDebits(tx: Transaction, debits: readonly FeeDebit[]): Promise<void> {
  if (debits.length === 0) return;
  await execute(
    tx,
    sql`insert into fee_debit (key, investor_login, log_number, amount_minor)
        select key, login, number, -amount
        from ${unnest(debits)} as debit (key text, login text, number bigint, amount bigint)
        on conflict do nothing`,
  );
}

/** The keys of those fees that were debited, also by a transfer that was lost with commits of a database and imported. */
export async function listTakenFees(db: Queryable, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const requested = new Map(keys.flatMap((key) => [[key, key] as const, [importedFeeKey(key), key] as const]));
  const rows = await many<{ key: string }>(
    db,
    sql`select key from fee_debit where key = any(${[...requested.keys()]}::text[])`,
  );
  return new Set(rows.map(({ key }) => requested.get(key) ?? key));
}

export type FeeFloor = { readonly investorLogin: string; readonly floor: bigint; readonly filedNumber: bigint };

/**
 * The part of each balance that pays no fee: external funds, inbound and waiting money, losses that are not posted.
 * Cents, as of the last entry of its log that is filed.
 */
export async function listFeeFloors(db: Queryable, investorLogins: readonly string[]): Promise<FeeFloor[]> {
  return many<FeeFloor>(
    db,
    sql`select account.login as "investorLogin",
               greatest(account.quarantined_minor, 0) + greatest(-account.unposted_minor, 0)
               + coalesce(holding.inbound_minor + holding.waiting_minor, 0) as floor,
               account.filed_number as "filedNumber"
        from investor_account as account
             left join holding on holding.subscription_id = account.pooled_subscription_id
        where account.login = any(${investorLogins}::text[])
        order by account.login`,
  );
}
