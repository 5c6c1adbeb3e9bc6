import { Gauge } from "prom-client";
import { type Job, showRegularly } from "../jobs/job.ts";
import type { Log } from "../process/log.ts";
import type { Pool } from "../postgres/pool.ts";
import { many, type Queryable, sql } from "../postgres/query.ts";

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["reason"] });

const open = gauge("pamm_reviews_open", "Undecided reviews, by reason.");
const oldestSeconds = gauge("pamm_reviews_oldest_seconds", "Age of the oldest undecided review, by reason.");
const amountCents = gauge(
  "pamm_reviews_amount_cents",
  "Sum of the absolute amounts of undecided reviews, in cents, by reason.",
);

/** A reason without an undecided review is not shown. */
export function showReviews(reviews: readonly OpenReviews[]): void {
  for (const shown of [open, oldestSeconds, amountCents]) shown.reset();
  for (const { reason, count, oldestSeconds: age, amount } of reviews) {
    open.set({ reason }, count);
    oldestSeconds.set({ reason }, age);
    // Beyond 2^53 cents the loss of precision does not matter.
    amountCents.set({ reason }, Number(amount));
  }
}

/** Updates the metrics of the undecided reviews; part of every service with reviews. */
export function watchReviews({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  return showRegularly("watch reviews", log, async () => showReviews(await sumUndecided(pool)));
}

/** The undecided reviews of one reason. */
type OpenReviews = {
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
