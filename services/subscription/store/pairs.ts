import { isDeepStrictEqual } from "node:util";
import { execute, fragment, many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
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

type Row = Pick<Pair, "investorLogin" | "foldedNumber"> & {
  readonly earned: bigint;
  readonly mark: bigint;
  readonly crystallisedAt: Date | null;
};

const PAIRS = fragment`
  select investor_login as "investorLogin", folded_number as "foldedNumber", earned_minor as earned, mark_e8 as mark,
         crystallised_at as "crystallisedAt"
  from pair`;

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
    sql`${PAIRS} where investor_login = any(${investorLogins}::text[]) and master_login = ${masterLogin}`,
  );
  return await withLayers(db, masterLogin, rows);
}

/** By Investor, each with its layers from bottom to top. */
async function withLayers(db: Queryable, masterLogin: string, rows: readonly Row[]): Promise<Map<string, Pair>> {
  if (rows.length === 0) return new Map();
  const layers = await many<Layer & Pick<Pair, "investorLogin">>(
    db,
    sql`select investor_login as "investorLogin", amount_e8 as amount, earned_from as "earnedFrom", earned_to as "earnedTo"
        from layer
        where master_login = ${masterLogin} and investor_login = any(${rows.map(({ investorLogin }) => investorLogin)}::text[])
        order by investor_login, number`,
  );
  const byInvestor = Map.groupBy(layers, ({ investorLogin }) => investorLogin);
  return new Map(
    rows.map(({ investorLogin, foldedNumber, earned, mark, crystallisedAt }) => {
      const storedLayers = (byInvestor.get(investorLogin) ?? []).map(({ investorLogin: _login, ...layer }) => layer);
      const known = { foldedNumber, storedLayers, crystallisedAt: crystallisedAt ?? undefined };
      return [
        investorLogin,
        { investorLogin, masterLogin, earnings: { earned, mark, layers: storedLayers }, ...known },
      ];
    }),
  );
}

/** Saves folded results, decided fees and the layers that they change. The pairs must be locked. */
export async function savePairs(tx: Transaction, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  const saved = pairs.map(({ earnings: { earned, mark, layers }, storedLayers, ...pair }) => {
    return { ...pair, earned, markE8: mark, layers: layers.length, isLower: layers.length < storedLayers.length };
  });
  await execute(
    tx,
    sql`update pair
        set folded_number = saved.folded_number, earned_minor = saved.earned, mark_e8 = saved.mark_e8,
            crystallised_at = saved.crystallised_at, change_id = nextval('pair_change')
        from ${unnest(saved)} as saved (investor_login text, master_login text, folded_number bigint, earned bigint, mark_e8 bigint,
                     crystallised_at timestamptz)
        where pair.investor_login = saved.investor_login and pair.master_login = saved.master_login`,
  );
  const lower = saved.filter(({ isLower }) => isLower);
  if (lower.length > 0) {
    await execute(
      tx,
      sql`delete from layer
          using ${unnest(lower)} as kept (investor_login text, master_login text, layers integer)
          where layer.investor_login = kept.investor_login and layer.master_login = kept.master_login
            and layer.number > kept.layers`,
    );
  }
  await saveLayers(tx, pairs);
}

/** Writes the layers that differ from the stored ones. */
async function saveLayers(tx: Transaction, pairs: readonly Pair[]): Promise<void> {
  const changed = pairs.flatMap(({ investorLogin, masterLogin, storedLayers, earnings }) =>
    earnings.layers.flatMap(({ amount, earnedFrom, earnedTo }, index) => {
      const layer = { amount, earnedFrom, earnedTo };
      if (isDeepStrictEqual(storedLayers[index], layer)) return [];
      return [{ investorLogin, masterLogin, number: index + 1, amountE8: amount, earnedFrom, earnedTo }];
    }),
  );
  if (changed.length === 0) return;
  await execute(
    tx,
    sql`insert into layer (investor_login, master_login, number, amount_e8, earned_from, earned_to)
        select investor_login, master_login, number, amount_e8, earned_from, earned_to
        from ${unnest(changed)} as layer (investor_login text, master_login text, number integer, amount_e8 bigint,
                     earned_from timestamptz, earned_to timestamptz)
        on conflict (master_login, investor_login, number) do update
        set amount_e8 = excluded.amount_e8, earned_from = excluded.earned_from, earned_to = excluded.earned_to`,
  );
}
