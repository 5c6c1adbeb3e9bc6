import { execute, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Earnings, Layer } from "../domain/fees/layers.ts";

/** The profit of an Investor with a Master, over all its subscriptions, up to an allocation entry. */
export type Pair = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly foldedNumber: bigint;
  readonly earnings: Earnings;
  /** As the table has them: only those that differ are written. */
  readonly storedLayers: readonly Layer[];
  /** When the last fee was decided. */
  readonly crystallisedAt: Date | undefined;
};

type Row = {
  readonly investorLogin: string;
  readonly foldedNumber: bigint;
  readonly earned: bigint;
  readonly mark: bigint;
  readonly crystallisedAt: Date | null;
};

const PAIRS = fragment`
  select investor_login as "investorLogin", folded_number as "foldedNumber", earned_minor as earned, mark_e8 as mark,
         crystallised_at as "crystallisedAt"
  from pair`;

/**
 * Begins the pair of an Investor that follows a Master: results from now on are its own. If it has before, its exit has folded all until then, and
 * of what came afterwards only a repair can have a part of it: the rest need not be read.
 */
export async function beginPair(tx: Transaction, investorLogin: string, masterLogin: string): Promise<void> {
  await execute(
    tx,
    sql`insert into pair (investor_login, master_login, begun_number, folded_number, change_id)
        select ${investorLogin}, login, last_allocation, last_allocation, nextval('pair_change')
        from master_pool
        where login = ${masterLogin}
        on conflict (investor_login, master_login) do update
        set folded_number = coalesce(
              (
                select min(entry.number) - 1
                from allocation_entry as entry
                where entry.master_login = pair.master_login and entry.number > pair.folded_number and entry.case_id <> 0
              ),
              excluded.folded_number
            ),
            change_id = excluded.change_id`,
  );
}

/** Locks the pairs of some Investors with a Master, which the caller has locked, or the open week of. */
export async function lockPairs(
  tx: Transaction,
  masterLogin: string,
  investorLogins: readonly string[],
): Promise<Map<string, Pair>> {
  const rows = await many<Row>(
    tx,
    sql`${PAIRS}
        where investor_login = any(${investorLogins}::text[]) and master_login = ${masterLogin}
        order by investor_login
        for no key update`,
  );
  return await withLayers(tx, masterLogin, rows);
}

/** The pairs as of the snapshot of the connection. */
export async function readPairs(
  db: Queryable,
  masterLogin: string,
  investorLogins: readonly string[],
): Promise<Map<string, Pair>> {
  const rows = await many<Row>(
    db,
    sql`${PAIRS}
        where investor_login = any(${investorLogins}::text[]) and master_login = ${masterLogin}`,
  );
  return await withLayers(db, masterLogin, rows);
}

async function withLayers(db: Queryable, masterLogin: string, rows: readonly Row[]): Promise<Map<string, Pair>> {
  const layers = await listLayers(
    db,
    masterLogin,
    rows.map(({ investorLogin }) => investorLogin),
  );
  return new Map(
    rows.map(({ investorLogin, foldedNumber, earned, mark, crystallisedAt }) => {
      const own = layers.get(investorLogin) ?? [];
      const earnings = { earned, mark, layers: own };
      const known = { foldedNumber, earnings, storedLayers: own, crystallisedAt: crystallisedAt ?? undefined };
      return [investorLogin, { investorLogin, masterLogin, ...known }];
    }),
  );
}

/** Saves folded results, decided fees and the layers that they change. The pairs must be locked. */
export async function savePairs(tx: Transaction, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  await execute(
    tx,
    sql`update pair
        set folded_number = saved.folded_number, earned_minor = saved.earned, mark_e8 = saved.mark_e8,
            crystallised_at = saved.crystallised_at, change_id = nextval('pair_change')
        from unnest(
          ${pairs.map(({ investorLogin }) => investorLogin)}::text[],
          ${pairs.map(({ masterLogin }) => masterLogin)}::text[],
          ${pairs.map(({ foldedNumber }) => foldedNumber)}::bigint[],
          ${pairs.map(({ earnings }) => earnings.earned)}::bigint[],
          ${pairs.map(({ earnings }) => earnings.mark)}::bigint[],
          ${pairs.map(({ crystallisedAt }) => crystallisedAt)}::timestamptz[]
        ) as saved (investor_login, master_login, folded_number, earned, mark_e8, crystallised_at)
        where pair.investor_login = saved.investor_login and pair.master_login = saved.master_login`,
  );
  await saveLayers(tx, pairs);
}

/** The layers of some pairs of a Master, each from bottom to top, by Investor. The pairs must be locked, by a statement before, or be of the same snapshot. */
async function listLayers(
  db: Queryable,
  masterLogin: string,
  investorLogins: readonly string[],
): Promise<Map<string, Layer[]>> {
  if (investorLogins.length === 0) return new Map();
  const rows = await many<Layer & Pick<Pair, "investorLogin">>(
    db,
    sql`select investor_login as "investorLogin", amount_e8 as amount, earned_from as "earnedFrom", earned_to as "earnedTo"
        from layer
        where master_login = ${masterLogin} and investor_login = any(${investorLogins}::text[])
        order by investor_login, number`,
  );
  const layers = new Map<string, Layer[]>();
  for (const { investorLogin, ...layer } of rows) {
    const own = layers.get(investorLogin);
    if (own === undefined) layers.set(investorLogin, [layer]);
    else own.push(layer);
  }
  return layers;
}

/** Writes the layers that differ from the stored ones, and deletes those above the top. The pairs must be locked. */
async function saveLayers(tx: Transaction, pairs: readonly Pair[]): Promise<void> {
  await deleteAbove(
    tx,
    pairs.filter(({ storedLayers, earnings }) => earnings.layers.length < storedLayers.length),
  );
  await upsert(
    tx,
    pairs.flatMap(({ investorLogin, masterLogin, storedLayers, earnings }) =>
      earnings.layers.flatMap((layer, index) =>
        isSame(storedLayers[index], layer) ? [] : [{ ...layer, investorLogin, masterLogin, number: index + 1 }],
      ),
    ),
  );
}

async function deleteAbove(tx: Transaction, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  await execute(
    tx,
    sql`delete from layer
        using unnest(
          ${pairs.map(({ investorLogin }) => investorLogin)}::text[],
          ${pairs.map(({ masterLogin }) => masterLogin)}::text[],
          ${pairs.map(({ earnings }) => earnings.layers.length)}::integer[]
        ) as kept (investor_login, master_login, number)
        where layer.investor_login = kept.investor_login and layer.master_login = kept.master_login
          and layer.number > kept.number`,
  );
}

async function upsert(
  tx: Transaction,
  changed: readonly (Layer & Pick<Pair, "investorLogin" | "masterLogin"> & { readonly number: number })[],
): Promise<void> {
  if (changed.length === 0) return;
  await execute(
    tx,
    sql`insert into layer (investor_login, master_login, number, amount_e8, earned_from, earned_to)
        select investor_login, master_login, number, amount_e8, earned_from, earned_to
        from unnest(
          ${changed.map(({ investorLogin }) => investorLogin)}::text[],
          ${changed.map(({ masterLogin }) => masterLogin)}::text[],
          ${changed.map(({ number }) => number)}::integer[],
          ${changed.map(({ amount }) => amount)}::bigint[],
          ${changed.map(({ earnedFrom }) => earnedFrom)}::timestamptz[],
          ${changed.map(({ earnedTo }) => earnedTo)}::timestamptz[]
        ) as layer (investor_login, master_login, number, amount_e8, earned_from, earned_to)
        on conflict (master_login, investor_login, number) do update
        set amount_e8 = excluded.amount_e8, earned_from = excluded.earned_from, earned_to = excluded.earned_to`,
  );
}

function isSame(left: Layer | undefined, right: Layer): boolean {
  return (
    left?.amount === right.amount &&
    left.earnedFrom.getTime() === right.earnedFrom.getTime() &&
    left.earnedTo.getTime() === right.earnedTo.getTime()
  );
}
