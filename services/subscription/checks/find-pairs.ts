import { abs, type Check, described, type Finding, type PendingBreak } from "#kernel/reconcile/check.ts";
import { type Page, selectIds } from "#kernel/reconcile/table-walk.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { column, execute, fragment, many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import { walkTables } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";

const CHECK = described("investor_profits");
const PAIR = "pair";
const E8_PER_CENT = 1_000_000n;

/** An Investor with a Master, and what its rows add up to. */
type ComparedPair = {
  readonly investor: string;
  readonly master: string;
  readonly foldedNumber: bigint;
  readonly earnedMinor: bigint;
  readonly partsMinor: bigint;
  readonly markE8: bigint;
  readonly layersE8: bigint;
  /** As they were compared last; 0 before. */
  readonly seenNumber: bigint;
  readonly seenMinor: bigint;
  readonly seenE8: bigint;
};

/**
 * The pairs of a page, and those with a break that is not closed. The parts are looked up by entry: a range of entries has those of the whole pool. Of a pair that has changed since the last run, only the
 * parts after those that were compared then are added up; of the others all, also of those that are folded again.
 */
async function comparePairs(
  db: Queryable,
  page: Page,
  pendingBreaks: readonly PendingBreak[],
): Promise<ComparedPair[]> {
  const broken = await listBrokenPairs(db, pendingBreaks);
  const ids = selectIds(page, broken);
  const { after, to } = page.fresh;
  return await many<ComparedPair>(
    db,
    sql`select pair.investor_login as investor, pair.master_login as master, pair.folded_number as "foldedNumber",
               pair.earned_minor as "earnedMinor", pair.mark_e8 as "markE8", coalesce(seen.mark_e8, 0) as "seenE8",
               coalesce(seen.folded_number, 0) as "seenNumber", coalesce(seen.earned_minor, 0) as "seenMinor",
               (
                 select coalesce(sum(amount_e8), 0)::bigint
                 from layer
                 where layer.master_login = pair.master_login and layer.investor_login = pair.investor_login
               ) as "layersE8",
               compared.minor + (
                 select coalesce(sum(part.amount_minor), 0)::bigint
                 from generate_series(compared.number + 1, pair.folded_number) as entry (number)
                      join holding on holding.investor_login = pair.investor_login and holding.master_login = pair.master_login
                      join allocation_row as part on part.master_login = pair.master_login and part.number = entry.number
                        and part.subscription_id = holding.subscription_id
               ) as "partsMinor"
        from pair
             left join reconciliation_mark as seen
               on seen.investor_login = pair.investor_login and seen.master_login = pair.master_login
             cross join lateral (
               select case when is_continued then seen.folded_number else pair.begun_number end as number,
                      case when is_continued then seen.earned_minor else 0 end as minor
               from (
                 select change_id > ${after} and change_id <= ${to} and change_id <> all (${broken}::bigint[])
                        and seen.folded_number <= pair.folded_number
               ) as page (is_continued)
             ) as compared
        where change_id in ${ids}
        order by pair.investor_login, pair.master_login`,
  );
}

async function listBrokenPairs(db: Queryable, pendingBreaks: readonly PendingBreak[]): Promise<bigint[]> {
  const names = pendingBreaks.flatMap(({ key }) => {
    const [kind, name = ""] = key.split(":");
    const [investorLogin, masterLogin] = name.split("/");
    return kind === PAIR ? { investorLogin, masterLogin } : [];
  });
  if (names.length === 0) return [];
  return await column<bigint>(
    db,
    sql`select change_id
        from ${unnest(names)} as broken (investor_login text, master_login text)
             join pair using (investor_login, master_login)`,
  );
}

/**
 * A pair violates a rule unless its result equals the sum of the folded parts, its layers fill the interval from the mark to
 * the result, and its mark is not below the one that was compared before.
 */
function isBroken({ earnedMinor, partsMinor, markE8, seenE8, layersE8 }: ComparedPair): boolean {
  return earnedMinor !== partsMinor || markE8 < seenE8 || layersE8 !== intervalE8(earnedMinor, markE8);
}

function intervalE8(earnedMinor: bigint, markE8: bigint): bigint {
  const interval = earnedMinor * E8_PER_CENT - markE8;
  return interval > 0n ? interval : 0n;
}

/** Records what was compared without a difference; a mark is only ever raised. */
async function recordCompared(pool: Pool, compared: readonly ComparedPair[]): Promise<void> {
  const pairs = compared.filter(
    (pair) =>
      !isBroken(pair) &&
      (pair.markE8 > pair.seenE8 || pair.foldedNumber !== pair.seenNumber || pair.earnedMinor !== pair.seenMinor),
  );
  if (pairs.length === 0) return;
  await execute(
    pool,
    sql`insert into reconciliation_mark (investor_login, master_login, mark_e8, folded_number, earned_minor)
        select *
        from ${unnest(pairs)} as compared (investor text, master text, mark_e8 bigint, folded_number bigint, earned_minor bigint)
        on conflict (investor_login, master_login) do update
        set mark_e8 = excluded.mark_e8, folded_number = excluded.folded_number, earned_minor = excluded.earned_minor
        where reconciliation_mark.mark_e8 <= excluded.mark_e8`,
  );
}

function pairFinding(pair: ComparedPair): Finding {
  const { investor, master, earnedMinor, partsMinor, markE8, seenE8, layersE8 } = pair;
  const missing = [
    abs(earnedMinor - partsMinor) * E8_PER_CENT,
    seenE8 > markE8 ? seenE8 - markE8 : 0n,
    abs(layersE8 - intervalE8(earnedMinor, markE8)),
  ].reduce((largest, each) => (each > largest ? each : largest));
  return {
    key: `${PAIR}:${investor}/${master}`,
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

/** Each is examined with its parts, one for each result: a page of a Master with many results still ends in time. */
const TABLES = { pair: { name: "pair", rows: fragment`pair`, id: fragment`change_id`, pageRows: 10 } };

/** investor_profits: fees follow from profit, so what was earned is the sum of its parts and fills its layers, and no high-water mark falls. */
export function earned({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...CHECK,
    run: (request) =>
      walkTables(
        {
          pool,
          tables: TABLES,
          everyMs: CHECK.everyMs,
          async examine(db, pages) {
            const pairs = await comparePairs(db, pages.pair, request.pendingBreaks);
            return {
              async findings() {
                await recordCompared(pool, pairs);
                return pairs.filter(isBroken).map(pairFinding);
              },
            };
          },
        },
        request,
      ),
  };
}
