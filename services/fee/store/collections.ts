import { column, execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { DuePayment } from "./due-payments.ts";

/** What is collected under the key of a withdrawal or exit. */
export type Collection = {
  readonly key: string;
  /** In the sequence of collection. */
  readonly items: readonly CollectionItem[];
};

/** A payment as it is now, and in cents what was due of it when it was recorded under the key. */
export type CollectionItem = { readonly payment: DuePayment; readonly amount: bigint };

type Row = DuePayment & { readonly ofKey: string; readonly itemAmount: bigint };

/** A decision after which nothing is due has one row without a payment. */
type EmptyRow = Omit<Row, "id"> & { readonly id: null };

/** Those of some keys that are recorded: a withdrawal or exit has a run, also when nothing is due. */
export async function listCollections(db: Queryable, keys: readonly string[]): Promise<Map<string, Collection>> {
  const rows = await many<Row | EmptyRow>(
    db,
    sql`select run.key as "ofKey", item.amount_minor as "itemAmount", payment.*
        from fee_run run
             left join collection_item item on item.key = run.key
             left join fee_payment_row payment on payment.id = item.payment_id
        where run.key = any(${keys}::text[])
        order by run.key, item.item_number`,
  );
  const byKey = [...Map.groupBy(rows, ({ ofKey }) => ofKey)];
  return new Map(byKey.map(([key, own]) => [key, collectionOf(own as [Row | EmptyRow])]));
}

function collectionOf(rows: readonly [Row | EmptyRow, ...(Row | EmptyRow)[]]): Collection {
  const [{ ofKey: key }] = rows;
  return { key, items: rows.flatMap((row) => (row.id === null ? [] : [itemOf(row)])) };
}

function itemOf({ ofKey: _key, itemAmount: amount, ...payment }: Row): CollectionItem {
  return { payment, amount };
}

/** The keys of the withdrawals and exits that have the payment of a transfer as an item, at most `limit`. */
export async function listKeysOfItem(db: Queryable, transferKey: string, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select item.key
        from fee_payment payment join collection_item item on item.payment_id = payment.id
        where payment.key = ${transferKey}
        order by item.key
        limit ${limit}`,
  );
}

/** The keys of the transfers of those payments that a withdrawal or exit has as an item. */
export async function listCollectedKeys(db: Queryable, paymentIds: readonly bigint[]): Promise<string[]> {
  if (paymentIds.length === 0) return [];
  return await column<string>(
    db,
    sql`select key
        from fee_payment payment
        where id = any(${paymentIds}::bigint[])
          and exists (select from collection_item item where item.payment_id = payment.id)`,
  );
}

/** In the sequence of collection. */
export type NewCollection = {
  readonly key: string;
  readonly items: readonly { readonly id: bigint; readonly due: bigint }[];
};

export async function insertItems(tx: Transaction, collections: readonly NewCollection[]): Promise<void> {
  const items = collections.flatMap(({ key, items: own }) =>
    own.map((item, index) => ({ ...item, key, number: index + 1 })),
  );
  if (items.length === 0) return;
  await execute(
    tx,
    sql`insert into collection_item (key, item_number, payment_id, amount_minor)
        select *
        from unnest(
          ${items.map(({ key }) => key)}::text[],
          ${items.map(({ number }) => number)}::integer[],
          ${items.map(({ id }) => id)}::bigint[],
          ${items.map(({ due }) => due)}::bigint[]
        )`,
  );
}
