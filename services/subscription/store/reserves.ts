import { many, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Reserve } from "../domain/books.ts";

export async function insertReserve(
  tx: Transaction,
  { key, subscriptionId, amount }: Reserve,
  at: Date,
): Promise<void> {
  await one(
    tx,
    sql`insert into reserve (key, subscription_id, amount_minor, state, created_at)
        values (${key}, ${subscriptionId}, ${amount}, 'OPEN', ${at})
        returning key`,
  );
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

/** What is still set apart for an Investor, under the lock of its seat. */
export async function sumOpenReserves(tx: Transaction, subscriptionId: bigint): Promise<bigint> {
  const { total } = await one<{ total: bigint }>(
    tx,
    sql`select coalesce(sum(amount_minor), 0)::bigint as total
        from reserve
        where subscription_id = ${subscriptionId} and state = 'OPEN'`,
  );
  return total;
}

export async function closeReserves(
  tx: Transaction,
  keys: readonly string[],
  state: "SETTLED" | "RETURNED",
  at: Date,
): Promise<void> {
  if (keys.length === 0) return;
  await many(
    tx,
    sql`update reserve
        set state = ${state}, closed_at = ${at}
        where key = any(${keys}::text[]) and state = 'OPEN'`,
  );
}
