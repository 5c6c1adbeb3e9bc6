import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Arrival } from "../domain/arrival.ts";

/** Money that is on the Master and waits for its units. */
export type NewArrival = {
  readonly subscriptionId: bigint;
  readonly amount: bigint;
  /** Its entry in the Master's log; without one it is there from now on. */
  readonly place?: { readonly number: bigint; readonly dealId: bigint } | undefined;
};

export async function insertArrivals(tx: Transaction, arrivals: readonly NewArrival[]): Promise<void> {
  if (arrivals.length === 0) return;
  await many(
    tx,
    sql`insert into arrival (subscription_id, master_login, number, deal_id, amount_minor)
        select holding.subscription_id, holding.master_login, coalesce(fresh.number, pool.filed_number),
               coalesce(fresh.deal_id, pool.filed_deal_id), fresh.amount
        from unnest(
               ${arrivals.map(({ subscriptionId }) => subscriptionId)}::bigint[],
               ${arrivals.map(({ place }) => place?.number)}::bigint[],
               ${arrivals.map(({ place }) => place?.dealId)}::bigint[],
               ${arrivals.map(({ amount }) => amount)}::bigint[]
             ) with ordinality as fresh (subscription_id, number, deal_id, amount, place)
             join holding on holding.subscription_id = fresh.subscription_id
             join master_pool as pool on pool.login = holding.master_login
        order by place`,
  );
}

/** Of holdings in a pool that the caller has locked. */
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

/** They have their units. */
export async function deleteArrivals(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(tx, sql`delete from arrival where id = any(${ids}::bigint[])`);
}

/** Of who has left the pool, without units. */
export async function deleteArrivalsOf(tx: Transaction, subscriptionId: bigint): Promise<void> {
  await execute(tx, sql`delete from arrival where subscription_id = ${subscriptionId}`);
}
