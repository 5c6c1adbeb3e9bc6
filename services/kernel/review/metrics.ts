import { Gauge } from "prom-client";
import { type Job, runJob } from "../job.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import { type OpenReviews, sumUndecided } from "./open-reviews.ts";

const LOOK_EVERY_MS = 10_000;
const labelNames = ["reason"] as const;

const open = new Gauge({
  name: "pamm_reviews_open",
  help: "Reviews that people have not decided, by reason.",
  labelNames,
});
const oldestSeconds = new Gauge({
  name: "pamm_reviews_oldest_seconds",
  help: "Age of the oldest review that people have not decided, by reason.",
  labelNames,
});
const amountCents = new Gauge({
  name: "pamm_reviews_amount_cents",
  help: "Money that undecided reviews are about, in cents and without its sign, by reason.",
  labelNames,
});

/** Every replica shows what the table says. A reason that waits for nobody any more is not shown. */
export function showReviews(reviews: readonly OpenReviews[]): void {
  for (const gauge of [open, oldestSeconds, amountCents]) gauge.reset();
  for (const { reason, count, oldestSeconds: age, amount } of reviews) {
    open.set({ reason }, count);
    oldestSeconds.set({ reason }, age);
    // Beyond 2^53 cents nobody needs the last one.
    amountCents.set({ reason }, Number(amount));
  }
}

/** Part of every service that keeps reviews: what waits for people, and for how long. */
export function watchReviews({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  const work = async (): Promise<boolean> => {
    showReviews(await sumUndecided(pool));
    return false;
  };
  return runJob({ name: "watch reviews", everyMs: LOOK_EVERY_MS, work, log });
}
