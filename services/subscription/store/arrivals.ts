import { execute, many, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Arrival } from "../domain/advance-pool.ts";
import type { OwnFlow } from "../domain/books.ts";
import { OWN_CAPITAL } from "../domain/pool/unit-pool.ts";

/** Money on the Master that has no units yet. */
export type NewArrival = {
  readonly subscriptionId: bigint;
  readonly amount: bigint;
  /** Log entry of the Master with which it arrived; undefined: the last filed entry. */
  readonly entry?: { readonly number: bigint; readonly dealId: bigint } | undefined;
};

export async function insertArrivals(tx: Transaction, arrivals: readonly NewArrival[]): Promise<void> {
  if (arrivals.length === 0) return;
  const rows = arrivals.map(({ subscriptionId, amount, entry }) => {
    return { subscriptionId, amount, number: entry?.number, dealId: entry?.dealId };
  });
  await execute(
    tx,
    sql`insert into arrival (subscription_id, master_login, number, deal_id, amount_minor)
        select holding.subscription_id, holding.master_login, coalesce(fresh.number, pool.filed_number),
               coalesce(fresh.deal_id, pool.filed_deal_id), fresh.amount
        from ${unnest(rows)} with ordinality as fresh (subscription_id bigint, number bigint, deal_id bigint, amount bigint, ordinal)
             join holding on holding.subscription_id = fresh.subscription_id
             join master_pool as pool on pool.login = holding.master_login
        order by ordinal`,
  );
}

/** Records flows of own capital, each with the log entry that moved it. */
export async function insertOwnArrivals(tx: Transaction, flows: readonly OwnFlow[]): Promise<void> {
  if (flows.length === 0) return;
  const rows = flows.map(({ masterLogin, amount, entry }) => ({ ...entry, masterLogin, amount }));
  await execute(
    tx,
    sql`insert into arrival (subscription_id, master_login, number, deal_id, amount_minor)
        select ${OWN_CAPITAL}::bigint, master_login, number, deal_id, amount
        from ${unnest(rows)} with ordinality as fresh (master_login text, number bigint, deal_id bigint, amount bigint, ordinal)
        order by ordinal`,
  );
}

/** Arrivals of these holdings. The caller has locked the pool. */
export async function listArrivals(
  tx: Transaction,
  masterLogin: string,
  subscriptionIds: readonly bigint[],
): Promise<Arrival[]> {
  if (subscriptionIds.length === 0) return [];
  return many<Arrival>(
    tx,
    sql`select id, subscription_id as "subscriptionId", number, deal_id as "dealId", amount_minor as amount
        from arrival
        where master_login = ${masterLogin} and subscription_id = any(${subscriptionIds}::bigint[])
        order by id`,
  );
}

/** Deletes arrivals that have their units. */
export async function deleteArrivals(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(tx, sql`delete from arrival where id = any(${ids}::bigint[])`);
}

/** Deletes the arrivals of subscriptions that have left the pool. */
export async function deleteArrivalsOf(tx: Transaction, subscriptionIds: readonly bigint[]): Promise<void> {
  await execute(tx, sql`delete from arrival where subscription_id = any(${subscriptionIds}::bigint[])`);
}
