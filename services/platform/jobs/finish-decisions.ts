import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { delayUnfinished, listUnfinished, markFinished } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { outcomeOf } from "../domain/leg.ts";
import { reportLeg } from "../protocol/reviews/report-finding.ts";
import { reversalKey } from "../protocol/reviews/reverse-deal.ts";
import { readClock } from "../store/clock.ts";
import { listLegsByKey } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";

/** Another job sends the reversal, usually within seconds. */
const RETRY_MS = 2_000;
/** Decisions of one run, which are followed one after the other. */
const BATCH = 100;

/** Follows decided reviews until their reversal is final. The leg moves the money, not this job. */
export async function finishDecisions(deps: Deps): Promise<boolean> {
  const unfinished = await listUnfinished(deps.pool, await now(deps), BATCH);
  for (const reviewCase of unfinished) await finish(deps, reviewCase);
  return unfinished.length === BATCH;
}

async function finish(deps: Deps, reviewCase: ReviewCase): Promise<void> {
  const { pool, log } = deps;
  const key = reversalKey(reviewCase);
  const [reversal] = (await listLegsByKey(pool, [key])).get(key) ?? [];
  const outcome = reversal && outcomeOf(reversal.status);
  if (outcome === "APPLIED") return void (await markFinished(pool, reviewCase.id, await now(deps)));
  if (reversal !== undefined && outcome === "REFUSED") return await endRefused(deps, reviewCase, reversal);
  if (reversal === undefined) {
    log.error("decided reversal has no leg, report this defect", { id: reviewCase.id, login: reviewCase.login });
  }
  const lastError = `the reversal is ${reversal?.status.state ?? "not recorded"}`;
  await delayUnfinished(pool, reviewCase.id, new Date((await readClock(pool)) + RETRY_MS), lastError);
}

/** The platform refused the reversal, for example for insufficient funds: a new review lets operators request it again. */
async function endRefused(deps: Deps, reviewCase: ReviewCase, reversal: RecordedLeg): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    await reportLeg(tx, reversal, "reversal_refused");
    await markFinished(tx, reviewCase.id, await now(deps));
  });
}

/** The database's clock, because the result is compared with its times. */
async function now({ pool }: Deps): Promise<Date> {
  return new Date(await readClock(pool));
}
