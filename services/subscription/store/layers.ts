import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Layer } from "../domain/fees/layers.ts";

type Owner = { readonly investorLogin: string; readonly masterLogin: string };

/** A pair whose layers are written. */
export type LayeredPair = Owner & {
  /** As the table has them, from bottom to top. */
  readonly storedLayers: readonly Layer[];
  readonly earnings: { readonly layers: readonly Layer[] };
};

type Row = { readonly investorLogin: string } & Layer;

/** The layers of some pairs of a Master, each from bottom to top, by Investor. The pairs must be locked, by a statement before, or be of the same snapshot. */
export async function listLayers(
  db: Queryable,
  masterLogin: string,
  investorLogins: readonly string[],
): Promise<Map<string, Layer[]>> {
  if (investorLogins.length === 0) return new Map();
  const rows = await many<Row>(
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
export async function saveLayers(tx: Transaction, pairs: readonly LayeredPair[]): Promise<void> {
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

async function deleteAbove(tx: Transaction, pairs: readonly LayeredPair[]): Promise<void> {
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
  changed: readonly (Owner & Layer & { readonly number: number })[],
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
