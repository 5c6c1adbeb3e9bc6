import { many, type Queryable, sql } from "../postgres/query.ts";

/** The undecided reviews of one reason. */
export type OpenReviews = {
  readonly reason: string;
  readonly count: number;
  /** Never below 0, even when the clocks of the service and the database differ. */
  readonly oldestSeconds: number;
  /** Sum of the absolute amounts in cents, so that two reviews do not cancel out. */
  readonly amount: bigint;
};

/** Undecided reviews, one row for each of about a dozen reasons. */
export async function sumUndecided(db: Queryable): Promise<OpenReviews[]> {
  return await many<OpenReviews>(
    db,
    sql`select reason, count(*)::int as count, coalesce(sum(abs(amount_minor)), 0)::bigint as amount,
               greatest(extract(epoch from clock_timestamp() - min(opened_at)), 0)::float8 as "oldestSeconds"
        from review_case
        where state in ('OPEN', 'PROPOSED')
        group by reason
        order by reason`,
  );
}
