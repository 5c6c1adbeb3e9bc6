import assert from "node:assert/strict";
import { many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { FoldStart } from "../domain/fees/fold.ts";
import type { Part } from "../domain/fees/layers.ts";
import { E8_PER_CENT } from "../domain/pool/unit-pool.ts";
import type { Pair } from "./pairs.ts";

type PartRow = { readonly rank: bigint; readonly amount: bigint; readonly earnedAt: Date };

/**
 * The results of some pairs of a Master in the entries after the folded one and up to `throughNumber`, in the sequence of the array, each in
 * that of the entries. An Investor has a part for each of its subscriptions, also in a repair of what it has left.
 */
export async function listPartsToFold(
  db: Queryable,
  masterLogin: string,
  wanted: readonly { readonly pair: Pick<Pair, "investorLogin" | "foldedNumber">; readonly throughNumber: bigint }[],
): Promise<Part[][]> {
  if (wanted.length === 0) return [];
  const ranges = wanted.map(({ pair: { investorLogin, foldedNumber }, throughNumber }) => {
    return { investorLogin, foldedNumber, throughNumber };
  });
  const rows = await many<PartRow>(
    db,
    sql`select folded.rank, part.amount_minor as amount, entry.deal_at as "earnedAt"
        from ${unnest(ranges)} with ordinality as folded (investor_login text, folded_number bigint, through_number bigint, rank)
             join holding on holding.investor_login = folded.investor_login and holding.master_login = ${masterLogin}
             join allocation_entry as entry on entry.master_login = ${masterLogin} and entry.number > folded.folded_number
               and entry.number <= folded.through_number and entry.kind = 'RESULT'
             join allocation_row as part on part.master_login = ${masterLogin} and part.number = entry.number
               and part.subscription_id = holding.subscription_id
        where part.amount_minor <> 0
        order by folded.rank, entry.number, part.subscription_id`,
  );
  const byRank = Map.groupBy(rows, ({ rank }) => Number(rank) - 1);
  return wanted.map((_, index) => (byRank.get(index) ?? []).map(({ amount, earnedAt }) => ({ amount, earnedAt })));
}

/**
 * Where the results of some pairs of a Master are folded again from, in the sequence of the array. Each is walked back from its last folded result to
 * the first one of its layers, and not further: the history before the last fee is not read.
 */
export async function listFoldStarts(db: Queryable, masterLogin: string, pairs: readonly Pair[]): Promise<FoldStart[]> {
  if (pairs.length === 0) return [];
  const ends = pairs.map(({ investorLogin, foldedNumber: number, earnings: { earned, mark } }) => {
    return { investorLogin, number, earned, mark };
  });
  const rows = await many<FoldStart & { readonly rank: bigint }>(
    db,
    sql`select folded.rank, part.number - 1 as number, part.before::bigint as earned
        from ${unnest(ends)} with ordinality as folded (investor_login text, number bigint, earned bigint, mark bigint, rank)
        cross join lateral (
          select number, before
          from (
            select entry.number, folded.earned - sum(part.amount_minor) over (order by entry.number desc) as before
            from allocation_entry as entry
                 join allocation_row as part on part.master_login = entry.master_login and part.number = entry.number
            where entry.master_login = ${masterLogin} and entry.number <= folded.number
              and part.subscription_id = any(array(
                select subscription_id from holding
                where holding.investor_login = folded.investor_login and holding.master_login = ${masterLogin}
              ))
          ) as walked
          where before * ${E8_PER_CENT}::bigint <= folded.mark
          order by number desc
          limit 1
        ) as part
        order by folded.rank`,
  );
  assert.equal(rows.length, pairs.length, "what was earned before the first result is not above the mark");
  return rows;
}
