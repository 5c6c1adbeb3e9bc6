import { execute, many, matchesRow, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** The decided amounts of an Investor's withdrawal or exit. */
export type StoredCrystallisation = {
  readonly key: string;
  readonly investorLogin: string;
  /** Undefined outside a pool. */
  readonly masterLogin: string | undefined;
  readonly subscriptionId: bigint;
  readonly throughNumber: bigint;
  readonly at: Date;
  readonly pending: bigint;
};

/** `collected` is the collected amount, once all payments are settled. */
type CollectedCrystallisation = StoredCrystallisation & { readonly collected: bigint | undefined };

export type CrystallisedItem = {
  readonly paymentId: bigint;
  readonly key: string;
  readonly amount: bigint;
  readonly isWeekly: boolean;
};

export async function findCrystallisation(db: Queryable, key: string): Promise<CollectedCrystallisation | undefined> {
  const row = await maybeOne<CollectedCrystallisation>(
    db,
    sql`select key, investor_login as "investorLogin", master_login as "masterLogin", subscription_id as "subscriptionId",
               through_number as "throughNumber", decided_for as at, pending_minor as pending,
               collected_minor as collected
        from crystallisation
        where key = ${key}`,
  );
  return row && withoutNulls(row);
}

/** The first statement of a decision: the second of two with one key waits for the first one's commit. False for the second. */
export async function insertCrystallisation(
  tx: Transaction,
  requested: Omit<StoredCrystallisation, "pending">,
  createdAt: Date,
): Promise<boolean> {
  const { key, investorLogin, masterLogin, subscriptionId, throughNumber, at } = requested;
  return await matchesRow(
    tx,
    sql`insert into crystallisation
          (key, investor_login, master_login, subscription_id, through_number, decided_for, pending_minor, created_at)
        values (${key}, ${investorLogin}, ${masterLogin}, ${subscriptionId}, ${throughNumber}, ${at}, 0, ${createdAt})
        on conflict (key) do nothing`,
  );
}

/** Called in the transaction of the insert. */
export async function completeCrystallisation(
  tx: Transaction,
  { key, pending }: { readonly key: string; readonly pending: bigint },
  items: readonly Omit<CrystallisedItem, "key">[],
): Promise<void> {
  await execute(tx, sql`update crystallisation set pending_minor = ${pending} where key = ${key}`);
  await many(
    tx,
    sql`insert into crystallisation_item (key, item_number, payment_id, amount_minor, is_weekly)
        select ${key}, item_number, payment_id, amount, is_weekly
        from unnest(
          ${items.map(({ paymentId }) => paymentId)}::bigint[],
          ${items.map(({ amount }) => amount)}::bigint[],
          ${items.map(({ isWeekly }) => isWeekly)}::boolean[]
        ) with ordinality as item (payment_id, amount, is_weekly, item_number)`,
  );
}

/** In the sequence of collection. */
export async function listCrystallisedItems(db: Queryable, key: string): Promise<CrystallisedItem[]> {
  return many<CrystallisedItem>(
    db,
    sql`select item.payment_id as "paymentId", payment.key, item.amount_minor as amount, item.is_weekly as "isWeekly"
        from crystallisation_item item
        join fee_payment payment on payment.id = item.payment_id
        where item.key = ${key}
        order by item.item_number`,
  );
}

export async function markCollected(db: Queryable, key: string, amount: bigint): Promise<void> {
  await execute(
    db,
    sql`update crystallisation set collected_minor = ${amount} where key = ${key} and collected_minor is null`,
  );
}
