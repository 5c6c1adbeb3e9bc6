import { reasonOf } from "#kernel/jobs/retry.ts";
import type { Deps } from "../deps.ts";
import { jobContext } from "../processes/deadlines.ts";
import { decideWeekPage } from "../processes/fees/decide-week.ts";
import { recordFees } from "../processes/fees/record-fees.ts";
import {
  decisionQueue,
  listUnrecordedPages,
  markRecorded,
  type StoredDecision,
  withFees,
} from "../store/fee-decisions.ts";
import { type OpenWeek, weekQueue } from "../store/open-weeks.ts";

/** Masters of one run: each page is a transaction on a connection that others need, too. */
const WEEKS_PER_RUN = 2;
/** Decisions of one run. */
const DECISIONS_PER_RUN = 16;
/** Pages of a claim; then other Masters have their turn. */
const PAGES_PER_CLAIM = 10;
/** The longest pause after a failed try: Investors wait for their withdrawals meanwhile. */
const MAX_PAUSE_MS = 5_000;

/** Decides the fees of closed weeks. True when more are to be decided; after a failure, which may be that of all weeks, the job pauses first. */
export async function decideWeeks(deps: Deps): Promise<boolean> {
  const weeks = await weekQueue.claim(deps.pool, WEEKS_PER_RUN);
  const isDone = await Promise.all(weeks.map((week) => decideWeek(deps, week)));
  return weeks.length > 0 && isDone.every(Boolean);
}

/** A failure on one Master does not stop the others. False when it has failed. */
export async function decideWeek(deps: Deps, week: OpenWeek): Promise<boolean> {
  const { id, masterLogin: login, tries } = week;
  try {
    // No further page is decided while one is not recorded.
    await recordPages(deps, login);
    for (let pages = 0; pages < PAGES_PER_CLAIM; pages += 1) {
      const end = await decideWeekPage(deps, week, jobContext());
      await recordPages(deps, login);
      if (end === "end") return true;
      if (end === "more") continue;
      await weekQueue.retryLater(deps.pool, [{ id, tries, reason: end.waits, maxMs: MAX_PAUSE_MS }]);
      return true;
    }
    await weekQueue.retryLater(deps.pool, [{ id, tries, reason: undefined, maxMs: 0 }]);
    return true;
  } catch (error) {
    deps.log.info("fees of a week not decided, retry scheduled", { login, attempt: tries, error });
    await weekQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error), maxMs: MAX_PAUSE_MS }]);
    return false;
  }
}

/** In their sequence, those first that were decided before: the last page of a week comes last. */
async function recordPages(deps: Deps, masterLogin: string): Promise<void> {
  const pages = await listUnrecordedPages(deps.pool, masterLogin, DECISIONS_PER_RUN);
  for (const page of pages) await record(deps, page);
}

async function record(deps: Deps, decision: StoredDecision): Promise<void> {
  await recordFees(deps, decision, jobContext());
  await markRecorded(deps.pool, decision.id);
}

/** Has `fee` record decisions that a crash, or its absence, has left. */
export async function recordDecisions(deps: Deps): Promise<boolean> {
  const claimed = await decisionQueue.claim(deps.pool, DECISIONS_PER_RUN);
  for (const decision of await withFees(deps.pool, claimed)) {
    const { id, masterLogin: login, tries } = decision;
    try {
      await record(deps, decision);
    } catch (error) {
      deps.log.info("decided fees not recorded, retry scheduled", { login, error });
      await decisionQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error), maxMs: MAX_PAUSE_MS }]);
    }
  }
  return claimed.length === DECISIONS_PER_RUN;
}
