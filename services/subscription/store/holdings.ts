import { column, execute, fragment, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HoldingBook } from "../domain/books.ts";
import type { HoldingBuckets } from "../domain/buckets.ts";

type HoldingRow = Omit<HoldingBook, "buckets"> & HoldingBuckets;

/** Locks holdings by ascending id, after pools and accounts. */
export async function lockHoldings(tx: Transaction, subscriptionIds: readonly bigint[]): Promise<HoldingBook[]> {
  if (subscriptionIds.length === 0) return [];
  const rows = await many<HoldingRow>(
    tx,
    sql`select holding.subscription_id as "subscriptionId", holding.master_login as "masterLogin",
               holding.investor_login as "investorLogin", subscription.status = 'ACTIVE' as "isPooled",
               inbound_minor as inbound, waiting_minor as waiting, pooled_minor as pooled,
               reserved_minor as reserved, outbound_minor as outbound, unredeemed_minor as unredeemed
        from holding join subscription on subscription.id = holding.subscription_id
        where holding.subscription_id = any(${subscriptionIds}::bigint[])
        order by holding.subscription_id
        for no key update of holding`,
  );
  return rows.map(toHolding);
}

/** Inserts a holding without units. */
export async function insertHolding(tx: Transaction, holding: Omit<HoldingBook, "unredeemed">): Promise<void> {
  const { subscriptionId, masterLogin, investorLogin, buckets } = holding;
  await one(
    tx,
    sql`insert into holding (subscription_id, master_login, investor_login, inbound_minor, waiting_minor, pooled_minor,
                             reserved_minor, outbound_minor)
        values (${subscriptionId}, ${masterLogin}, ${investorLogin}, ${buckets.inbound}, ${buckets.waiting},
                ${buckets.pooled}, ${buckets.reserved}, ${buckets.outbound})
        returning subscription_id`,
  );
}

export async function saveHoldings(tx: Transaction, holdings: readonly HoldingBook[]): Promise<void> {
  if (holdings.length === 0) return;
  await execute(
    tx,
    sql`update holding
        set inbound_minor = book.inbound, waiting_minor = book.waiting, pooled_minor = book.pooled,
            reserved_minor = book.reserved, outbound_minor = book.outbound, unredeemed_minor = book.unredeemed
        from unnest(
          ${holdings.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${holdings.map(({ buckets }) => buckets.inbound)}::bigint[],
          ${holdings.map(({ buckets }) => buckets.waiting)}::bigint[],
          ${holdings.map(({ buckets }) => buckets.pooled)}::bigint[],
          ${holdings.map(({ buckets }) => buckets.reserved)}::bigint[],
          ${holdings.map(({ buckets }) => buckets.outbound)}::bigint[],
          ${holdings.map(({ unredeemed }) => unredeemed)}::bigint[]
        ) as book (subscription_id, inbound, waiting, pooled, reserved, outbound, unredeemed)
        where holding.subscription_id = book.subscription_id`,
  );
}

function toHolding({ inbound, waiting, pooled, reserved, outbound, ...holding }: HoldingRow): HoldingBook {
  return { ...holding, buckets: { inbound, waiting, pooled, reserved, outbound } };
}

/** PAUSED subscriptions with an empty holding; the saga that emptied the holding normally cancels them. */
export async function listEmptiedPaused(db: Queryable, limit: number): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select subscription.id
        from subscription
        join holding on holding.subscription_id = subscription.id
        where subscription.status = 'PAUSED' and holding.inbound_minor = 0 and holding.waiting_minor = 0
          and holding.pooled_minor = 0 and holding.reserved_minor = 0 and holding.outbound_minor = 0
        order by subscription.id
        limit ${limit}`,
  );
}

/** Expression: an instant in the past when a PAUSED subscription has an empty holding. */
export const nextEmptied = fragment`(
  select '-infinity'::timestamptz
  from subscription
  join holding on holding.subscription_id = subscription.id
  where subscription.status = 'PAUSED' and holding.inbound_minor = 0 and holding.waiting_minor = 0
    and holding.pooled_minor = 0 and holding.reserved_minor = 0 and holding.outbound_minor = 0
  limit 1
)`;
