import { column, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { DuePayment } from "./due-payments.ts";

/** What is collected under the key of a withdrawal or exit: payments as they are now, in the sequence of collection. */
export type Collection = { readonly key: string; readonly payments: readonly DuePayment[] };

/** A decision after which nothing is due has one row without a payment. */
type Row = (DuePayment | { readonly id: null }) & { readonly ofKey: string };

/** Condition on a payment: imported fees had not paid it when it was recorded. */
const WAS_DUE = fragment`
  own.due_minor > own.prepaid_minor
  and not exists (select from fee_payment as earlier where earlier.key_hash = own.key_hash and earlier.id < own.id)`;

/** Those of some keys that are recorded: a withdrawal or exit has a run, also when nothing is due. */
export async function listCollections(db: Queryable, keys: readonly string[]): Promise<Map<string, Collection>> {
  const rows = await many<Row>(
    db,
    sql`select run.key as "ofKey", payment.*
        from fee_run as run
             left join lateral (
               select weekly.id from fee_payment as weekly where weekly.key = any(run.weekly_keys)
               union all
               select own.id from fee_payment as own where own.run_id = run.id and ${WAS_DUE}
             ) as item on true
             left join fee_payment_row as payment on payment.id = item.id
        where run.key = any(${keys}::text[])
        order by run.key, payment.id`,
  );
  const byKey = Map.groupBy(rows, ({ ofKey }) => ofKey);
  return new Map(
    Array.from(byKey, ([key, own]) => [key, { key, payments: own.flatMap((row) => (row.id === null ? [] : [row])) }]),
  );
}

/** The keys of the withdrawals and exits that have the payment of a transfer as an item, at most `limit`. */
export async function listKeysOfItem(db: Queryable, transferKey: string, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select key
        from (
          select run.key
          from fee_payment as own join fee_run as run on run.id = own.run_id
          where own.key = ${transferKey} and run.kind = 'ON_DEMAND' and own.suffix not like 'IM%' and ${WAS_DUE}
          union
          select key from fee_run where weekly_keys <> '{}' and weekly_keys @> ${[transferKey]}::text[]
        ) as collecting
        order by key
        limit ${limit}`,
  );
}

/** The keys of the transfers of those payments that a withdrawal or exit has as an item. */
export async function listCollectedKeys(db: Queryable, paymentIds: readonly bigint[]): Promise<string[]> {
  if (paymentIds.length === 0) return [];
  return await column<string>(
    db,
    sql`select payment.key
        from fee_payment as payment join fee_run as run on run.id = payment.run_id
        where payment.id = any(${paymentIds}::bigint[])
          and (
            run.kind = 'ON_DEMAND'
            or exists (
              select from fee_run as leaving
              where leaving.weekly_keys <> '{}' and leaving.weekly_keys @> string_to_array(payment.key, ${"\n"})
            )
          )`,
  );
}
