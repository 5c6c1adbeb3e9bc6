import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { delayUnfinished, listUnfinished, markFinished } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { outcomeOf } from "../domain/leg.ts";
import { reportReversalRefused } from "../protocol/follow-legs.ts";
import { reversalKey } from "../protocol/reviews/reverse-deal.ts";
import { readClock } from "../store/clock.ts";
import { listLegs } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { findTransferByKey } from "../store/transfers.ts";

const RETRY_MS = 2_000;
const BATCH = 100;

/** Follows decided reviews until their reversal is final. The leg moves the money, not this job. */
export async function finishDecisions(deps: Deps): Promise<boolean> {
  const unfinished = await listUnfinished(deps.pool, await now(deps), BATCH);
  for (const about of unfinished) await finish(deps, about);
  return unfinished.length === BATCH;
}

async function finish(deps: Deps, about: ReviewCase): Promise<void> {
  const { pool, log } = deps;
  const transfer = await findTransferByKey(pool, reversalKey(about));
  const [reversal] = transfer === undefined ? [] : await listLegs(pool, transfer.id);
  const outcome = reversal && outcomeOf(reversal.status);
  if (outcome === "APPLIED") return void (await markFinished(pool, about.id, await now(deps)));
  if (reversal !== undefined && outcome === "REFUSED") return await endRefused(deps, about, reversal);
  if (reversal === undefined) {
    log.error("decided reversal has no leg, report this defect", { id: about.id, login: about.login });
  }
  const lastError = `the reversal is ${reversal?.status.state ?? "not recorded"}`;
  await delayUnfinished(pool, about.id, new Date((await readClock(pool)) + RETRY_MS), lastError);
}

/** The platform refused the reversal, for example for insufficient funds: a new review lets operators request it again. */
async function endRefused(deps: Deps, about: ReviewCase, reversal: RecordedLeg): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    await reportReversalRefused(tx, reversal);
    await markFinished(tx, about.id, await now(deps));
  });
}

/** The database's clock, because the result is compared with its times. */
async function now({ pool }: Deps): Promise<Date> {
  return new Date(await readClock(pool));
}
