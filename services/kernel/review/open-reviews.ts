import { many, type Queryable, sql } from "../postgres/query.ts";

/** What of one reason is undecided. */
export type OpenReviews = {
  readonly reason: string;
  readonly count: number;
  /** Never below 0, whichever clock opened it. */
  readonly oldestSeconds: number;
  /** Cents, without their signs: money of two reviews does not cancel out. */
  readonly amount: bigint;
};

/** Undecided reviews, one row for each reason; there are a dozen of them. */
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
