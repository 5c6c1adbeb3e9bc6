import { many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
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
  /** The collected amount, once all payments are settled. */
  readonly collected: bigint | undefined;
  /** In the sequence of collection. */
  readonly items: readonly CrystallisedItem[];
};

export type CrystallisedItem = {
  readonly payment: PaymentState;
  readonly amount: bigint;
  /** Payment of an earlier weekly run. */
  readonly isWeekly: boolean;
};

type DecidedRow = Omit<Crystallisation, "items">;
type ItemRow = PaymentState & {
  readonly crystallisation: string;
  readonly itemAmount: bigint;
  readonly isWeekly: boolean;
};

/** The recorded decisions of some keys, with the payments as they are now. */
export async function listCrystallisations(
  db: Queryable,
  keys: readonly string[],
): Promise<Map<string, Crystallisation>> {
  const rows = await many<DecidedRow>(
    db,
    sql`select key, investor_login as "investorLogin", master_login as "masterLogin", pending_minor as pending,
               collected_minor as collected
        from crystallisation
        where key = any(${keys}::text[])`,
  );
  const items = rows.length === 0 ? new Map<string, ItemRow[]>() : await listItems(db, keys);
  return new Map(rows.map((row) => [row.key, { ...withoutNulls(row), items: (items.get(row.key) ?? []).map(itemOf) }]));
}

function itemOf({ itemAmount: amount, isWeekly, ...payment }: ItemRow): CrystallisedItem {
  return { payment, amount, isWeekly };
}

async function listItems(db: Queryable, keys: readonly string[]): Promise<Map<string, ItemRow[]>> {
  const rows = await many<ItemRow>(
    db,
    sql`select item.key as crystallisation, item.amount_minor as "itemAmount", item.is_weekly as "isWeekly",
               ${PAYMENT_STATE_COLUMNS}
        from crystallisation_item item
        join fee_payment_row payment on payment.id = item.payment_id
        where item.key = any(${keys}::text[])
        order by item.key, item.item_number`,
  );
  return Map.groupBy(rows, ({ crystallisation }) => crystallisation);
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

export type DecidedItems = {
  readonly key: string;
  readonly pending: bigint;
  /** In the sequence of collection. */
  readonly items: readonly { readonly paymentId: bigint; readonly amount: bigint; readonly isWeekly: boolean }[];
};

/** Called in the transaction of the insert. Nothing remains to be collected where nothing is due. */
export async function completeCrystallisations(tx: Transaction, decided: readonly DecidedItems[]): Promise<void> {
  await many(
    tx,
    sql`update crystallisation
        set pending_minor = decided.pending, collected_minor = decided.collected
        from unnest(
          ${decided.map(({ key }) => key)}::text[],
          ${decided.map(({ pending }) => pending)}::bigint[],
          ${decided.map(({ items }) => (items.length === 0 ? 0n : undefined))}::bigint[]
        ) as decided (key, pending, collected)
        where crystallisation.key = decided.key`,
  );
  const items = decided.flatMap(({ key, items: own }) =>
    own.map((item, index) => ({ ...item, key, number: index + 1 })),
  );
  if (items.length === 0) return;
  await many(
    tx,
    sql`insert into crystallisation_item (key, item_number, payment_id, amount_minor, is_weekly)
        select *
        from unnest(
          ${items.map(({ key }) => key)}::text[],
          ${items.map(({ number }) => number)}::integer[],
          ${items.map(({ paymentId }) => paymentId)}::bigint[],
          ${items.map(({ amount }) => amount)}::bigint[],
          ${items.map(({ isWeekly }) => isWeekly)}::boolean[]
        )`,
  );
}

/** What was collected under a key, in cents. */
export type Collected = { readonly key: string; readonly amount: bigint };

/** The first amount of a key stays. */
export async function markCollected(db: Queryable, collected: readonly Collected[]): Promise<void> {
  await many(
    db,
    sql`update crystallisation
        set collected_minor = collected.amount
        from unnest(
          ${collected.map(({ key }) => key)}::text[],
          ${collected.map(({ amount }) => amount)}::bigint[]
        ) as collected (key, amount)
        where crystallisation.key = collected.key and collected_minor is null`,
  );
}
