import { column, execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { PAYMENT_STATE_COLUMNS, type PaymentState } from "./due-payments.ts";

/** A decision about what an Investor owes at a withdrawal or exit. */
export type NewCrystallisation = {
  readonly key: string;
  readonly investorLogin: string;
  /** Undefined outside a pool. */
  readonly masterLogin: string | undefined;
  readonly subscriptionId: bigint;
  readonly throughNumber: bigint;
  readonly at: Date;
};

/** A recorded decision. */
export type Crystallisation = {
  readonly key: string;
  readonly investorLogin: string;
  readonly masterLogin: string | undefined;
  /** What was due, in cents. */
  readonly pending: bigint;
  /** In the sequence of collection. */
  readonly items: readonly CrystallisedItem[];
};

export type CrystallisedItem = {
  readonly payment: PaymentState;
  readonly amount: bigint;
};

type Row = PaymentState & {
  readonly ofKey: string;
  readonly ofInvestor: string;
  readonly ofMaster: string | null;
  readonly pending: bigint;
  readonly itemAmount: bigint;
};

/** A decision after which nothing is due has one row without a payment. */
type EmptyRow = Omit<Row, "id"> & { readonly id: null };

/** The recorded decisions of some keys, with the payments as they are now. */
export async function listCrystallisations(
  db: Queryable,
  keys: readonly string[],
): Promise<Map<string, Crystallisation>> {
  const rows = await many<Row | EmptyRow>(
    db,
    sql`select crystallisation.key as "ofKey", crystallisation.investor_login as "ofInvestor",
               crystallisation.master_login as "ofMaster", crystallisation.pending_minor as pending,
               item.amount_minor as "itemAmount", ${PAYMENT_STATE_COLUMNS}
        from crystallisation
             left join crystallisation_item item on item.key = crystallisation.key
             left join fee_payment_row payment on payment.id = item.payment_id
        where crystallisation.key = any(${keys}::text[])
        order by crystallisation.key, item.item_number`,
  );
  const byKey = [...Map.groupBy(rows, ({ ofKey }) => ofKey)];
  return new Map(byKey.map(([key, own]) => [key, crystallisationOf(own as [Row | EmptyRow])]));
}

/** The keys of the decisions that have the payment of a transfer as an item, at most `limit`. */
export async function listKeysOfItem(db: Queryable, transferKey: string, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select item.key
        from fee_payment payment join crystallisation_item item on item.payment_id = payment.id
        where payment.key = ${transferKey}
        order by item.key
        limit ${limit}`,
  );
}

function crystallisationOf(rows: readonly [Row | EmptyRow, ...(Row | EmptyRow)[]]): Crystallisation {
  const [{ ofKey: key, ofInvestor: investorLogin, ofMaster, pending }] = rows;
  const items = rows.flatMap((row) => (row.id === null ? [] : [itemOf(row)]));
  return { key, investorLogin, masterLogin: ofMaster ?? undefined, pending, items };
}

function itemOf({ ofKey: _key, ofInvestor: _login, ofMaster: _master, pending: _due, ...row }: Row): CrystallisedItem {
  const { itemAmount: amount, ...payment } = row;
  return { payment, amount };
}

/**
 * The first change of a decision: the second of two with one key waits for the first one's commit. Returns the Investors of the
 * keys that were not recorded before.
 */
export async function insertCrystallisations(
  tx: Transaction,
  requested: readonly NewCrystallisation[],
  createdAt: Date,
): Promise<Map<string, string>> {
  if (requested.length === 0) return new Map();
  const rows = await many<{ key: string; investorLogin: string }>(
    tx,
    sql`insert into crystallisation
          (key, investor_login, master_login, subscription_id, through_number, decided_for, pending_minor, created_at)
        select key, investor_login, master_login, subscription_id, through_number, decided_for, 0, ${createdAt}
        from unnest(
          ${requested.map(({ key }) => key)}::text[],
          ${requested.map(({ investorLogin }) => investorLogin)}::text[],
          ${requested.map(({ masterLogin }) => masterLogin)}::text[],
          ${requested.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${requested.map(({ throughNumber }) => throughNumber)}::bigint[],
          ${requested.map(({ at }) => at)}::timestamptz[]
        ) as requested (key, investor_login, master_login, subscription_id, through_number, decided_for)
        order by key
        on conflict (key) do nothing
        returning key, investor_login as "investorLogin"`,
  );
  return new Map(rows.map(({ key, investorLogin }) => [key, investorLogin]));
}

/** Called in the transaction of the insert, for keys that it does not decide. */
export async function withdrawCrystallisations(tx: Transaction, keys: readonly string[]): Promise<void> {
  await execute(tx, sql`delete from crystallisation where key = any(${keys}::text[])`);
}

export type DecidedItems = {
  readonly key: string;
  readonly pending: bigint;
  /** In the sequence of collection. */
  readonly items: readonly { readonly paymentId: bigint; readonly amount: bigint }[];
};

/** Called in the transaction of the insert. */
export async function completeCrystallisations(tx: Transaction, decided: readonly DecidedItems[]): Promise<void> {
  const items = decided.flatMap(({ key, items: own }) =>
    own.map((item, index) => ({ ...item, key, number: index + 1 })),
  );
  await many(
    tx,
    sql`with listed as (
          insert into crystallisation_item (key, item_number, payment_id, amount_minor)
          select *
          from unnest(
            ${items.map(({ key }) => key)}::text[],
            ${items.map(({ number }) => number)}::integer[],
            ${items.map(({ paymentId }) => paymentId)}::bigint[],
            ${items.map(({ amount }) => amount)}::bigint[]
          )
        )
        update crystallisation
        set pending_minor = decided.pending
        from unnest(
          ${decided.map(({ key }) => key)}::text[],
          ${decided.map(({ pending }) => pending)}::bigint[]
        ) as decided (key, pending)
        where crystallisation.key = decided.key`,
  );
}
