import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { showUnknownOutcomes, type UnknownOutcomes } from "../metrics.ts";

/** Updates the metrics of legs of unknown outcome. There are at most as many as permits of all sessions, eight of each, unless answers are lost. */
export async function watchOutcomes({ pool }: Pick<Deps, "pool">): Promise<boolean> {
  const outcomes = await many<UnknownOutcomes>(
    pool,
    sql`select leg.state, count(*)::int as count, sum(abs(leg.amount_minor))::bigint as "amountMinor",
               greatest(extract(epoch from clock_timestamp() - min(first.granted_at)), 0)::float8 as "oldestSeconds"
        from leg
             join attempt as first on first.leg_number = leg.number and first.number = 1
        where leg.state in ('SENDING', 'UNKNOWN')
        group by leg.state`,
  );
  showUnknownOutcomes(outcomes);
  return false;
}
