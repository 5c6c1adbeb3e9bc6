import { abs, type Finding, type PendingBreak } from "#kernel/reconcile/check.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Fewer than the rows of other tables, because a run adds up all parts of each pair. */
const PAIRS_PER_RUN = 500;
const E8_PER_CENT = 1_000_000n;

/** An Investor with a Master, as "investor/master". */
export type PairName = string;

/** The pairs of this run: the next ones after the cursor, and those with an open break. */
export async function listPairsFrom(
  db: Queryable,
  after: PairName,
  pendingBreaks: readonly PendingBreak[],
): Promise<{ readonly pairs: readonly PairName[]; readonly next: PairName }> {
  const [investor = "", master = ""] = after.split("/");
  const rows = await many<{ pair: PairName }>(
    db,
    sql`select investor_login || '/' || master_login as pair
        from fee_pair
        where (investor_login, master_login) > (${investor}, ${master})
        order by investor_login, master_login
        limit ${PAIRS_PER_RUN}`,
  );
  const page = rows.map(({ pair }) => pair);
  const again = pendingBreaks.map(({ key }) => key.split(":")).filter(([kind]) => kind === "pair");
  return {
    pairs: [...new Set([...page, ...again.map(([, pair = ""]) => pair)])],
    next: page.length < PAIRS_PER_RUN ? "" : (page.at(-1) ?? ""),
  };
}

type Row = {
  readonly investor: string;
  readonly master: string;
  readonly earnedMinor: bigint;
  readonly partsMinor: bigint;
  readonly markE8: bigint;
  readonly seenE8: bigint;
  readonly layersE8: bigint;
};

/**
 * Pairs that violate a rule: the result equals the sum of the folded parts, the layers fill the interval from the mark to the
 * result, and the mark is not below the highest one that an earlier run recorded.
 */
export async function listBrokenPairs(db: Queryable, pairs: readonly PairName[]): Promise<Finding[]> {
  const rows = await many<Row>(
    db,
    sql`with pair as (
          select fee_pair.investor_login as investor, fee_pair.master_login as master, earned_minor as earned, fee_pair.mark_e8 as mark,
                 coalesce(seen.mark_e8, 0) as seen,
                 (select coalesce(sum((layer ->> 0)::numeric), 0)::bigint from jsonb_array_elements(layers) as layer) as layers,
                 (select coalesce(sum(amount_minor), 0)::bigint
                  from allocation_part as part
                  where part.master_login = fee_pair.master_login and part.investor_login = fee_pair.investor_login
                    and part.number <= folded_number) as parts
          from fee_pair
               join unnest(${pairs.map((name) => name.split("/")[0])}::text[], ${pairs.map((name) => name.split("/")[1])}::text[])
                 as examined (investor_login, master_login)
                 on fee_pair.investor_login = examined.investor_login and fee_pair.master_login = examined.master_login
               left join reconciliation_mark as seen
                 on seen.investor_login = fee_pair.investor_login and seen.master_login = fee_pair.master_login
        )
        select investor, master, earned as "earnedMinor", parts as "partsMinor", mark as "markE8", seen as "seenE8",
               layers as "layersE8"
        from pair
        where earned <> parts or mark < seen or layers <> greatest(0, earned * ${E8_PER_CENT} - mark)
        order by investor, master`,
  );
  return rows.map(findingOf);
}

/** Records the marks of this run; a recorded mark is only ever raised. */
export async function recordMarks(pool: Pool, pairs: readonly PairName[]): Promise<void> {
  await execute(
    pool,
    sql`insert into reconciliation_mark (investor_login, master_login, mark_e8)
        select fee_pair.investor_login, fee_pair.master_login, mark_e8
        from fee_pair
             join unnest(${pairs.map((name) => name.split("/")[0])}::text[], ${pairs.map((name) => name.split("/")[1])}::text[])
               as examined (investor_login, master_login)
               on fee_pair.investor_login = examined.investor_login and fee_pair.master_login = examined.master_login
        order by 1, 2
        on conflict (investor_login, master_login) do update set mark_e8 = excluded.mark_e8
        where reconciliation_mark.mark_e8 < excluded.mark_e8`,
  );
}

function findingOf({ investor, master, earnedMinor, partsMinor, markE8, seenE8, layersE8 }: Row): Finding {
  const interval = earnedMinor * E8_PER_CENT - markE8;
  const missing = [
    abs(earnedMinor - partsMinor) * E8_PER_CENT,
    seenE8 > markE8 ? seenE8 - markE8 : 0n,
    abs(layersE8 - (interval > 0n ? interval : 0n)),
  ].reduce((largest, each) => (each > largest ? each : largest));
  return {
    key: `pair:${investor}/${master}`,
    login: investor,
    masterLogin: master,
    // Rounded up to the cent, so that a difference is never shown as 0.00.
    atRiskMinor: (missing + E8_PER_CENT - 1n) / E8_PER_CENT,
    message:
      markE8 < seenE8
        ? `The high-water mark of Investor ${investor} with Master ${master} decreased.`
        : `The result of Investor ${investor} with Master ${master} differs from the sum of its allocations and layers.`,
    evidence: {
      earned_minor: String(earnedMinor),
      parts_minor: String(partsMinor),
      mark_e8: String(markE8),
      seen_mark_e8: String(seenE8),
      layers_e8: String(layersE8),
    },
  };
}
