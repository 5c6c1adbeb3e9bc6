import assert from "node:assert/strict";
import { execute, fragment, many, maybeOne, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Reserve } from "../domain/books.ts";

/** Opens reserves for debits of Investors. A reserve that was closed without a debit may be opened again. */
export async function insertReserves(tx: Transaction, reserves: readonly Reserve[], at: Date): Promise<void> {
  if (reserves.length === 0) return;
  const inserted = await execute(
    tx,
    sql`insert into reserve (key, subscription_id, amount_minor, is_outside, state, created_at)
        select key, subscription_id, amount, is_outside, 'OPEN', ${at}::timestamptz
        from ${unnest(reserves)} as fresh (key text, subscription_id bigint, amount bigint, is_outside boolean)
        on conflict (key) do update
        set subscription_id = excluded.subscription_id, amount_minor = excluded.amount_minor, is_outside = excluded.is_outside, state = 'OPEN',
            created_at = excluded.created_at, closed_at = null
        where reserve.state <> 'OPEN'`,
  );
  assert.equal(inserted, reserves.length, "A reserve is open under one of these keys.");
}

export type ReserveOwner = { readonly investorLogin: string; readonly masterLogin: string };

export async function findReserveOwner(db: Queryable, key: string): Promise<ReserveOwner | undefined> {
  return maybeOne<ReserveOwner>(
    db,
    sql`select subscription.investor_login as "investorLogin", subscription.master_login as "masterLogin"
        from reserve join subscription on subscription.id = reserve.subscription_id
        where reserve.key = ${key}`,
  );
}

export type OpenReserve = Reserve & { readonly investorLogin: string };

const OPEN_RESERVES = fragment`
  select holding.investor_login as "investorLogin", reserve.key, reserve.subscription_id as "subscriptionId", reserve.amount_minor as amount,
         reserve.is_outside as "isOutside"
  from reserve join holding on holding.subscription_id = reserve.subscription_id
  where reserve.state = 'OPEN'`;

/** The open reserves of Investors, in their current pools and in pools that they have left. */
export async function listOpenReserves(db: Queryable, investorLogins: readonly string[]): Promise<OpenReserve[]> {
  if (investorLogins.length === 0) return [];
  return many<OpenReserve>(db, sql`${OPEN_RESERVES} and holding.investor_login = any(${investorLogins}::text[])`);
}

export async function listReservesWithKey(db: Queryable, keys: readonly string[]): Promise<OpenReserve[]> {
  if (keys.length === 0) return [];
  return many<OpenReserve>(db, sql`${OPEN_RESERVES} and reserve.key = any(${keys}::text[])`);
}

export async function closeReserves(
  tx: Transaction,
  keys: readonly string[],
  state: "SETTLED" | "RETURNED",
  at: Date,
): Promise<void> {
  if (keys.length === 0) return;
  await execute(
    tx,
    sql`update reserve
        set state = ${state}, closed_at = ${at}
        where key = any(${keys}::text[]) and state = 'OPEN'`,
  );
}
