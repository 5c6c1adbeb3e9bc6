import { closeCase, openCase } from "#kernel/review/cases.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { reviewActions } from "../domain/review-actions.ts";
import { readClock } from "../store/clock.ts";
import { listObsolete, listUnreviewed, type Reviewed } from "../store/unknown-accounts.ts";

type ReviewDeps = Pick<Deps, "pool" | "log">;

/** Reviews of each check that one run opens, and that it closes. */
const BATCH = 100;

const REVIEWED: readonly Reviewed[] = [
  { check: "unknown_accounts", reason: "unknown_account" },
  { check: "unregistered_accounts", reason: "unregistered_account" },
];

/** Opens a review for each account with a break of these checks, and closes it with the break, when the account was registered. */
export async function reviewUnknownAccounts(deps: ReviewDeps): Promise<boolean> {
  let hasMore = false;
  for (const reviewed of REVIEWED) {
    const changed = [await openReviews(deps, reviewed), await closeReviews(deps, reviewed)];
    hasMore ||= changed.includes(BATCH);
  }
  return hasMore;
}

async function openReviews({ pool, log }: ReviewDeps, reviewed: Reviewed): Promise<number> {
  const { reason } = reviewed;
  const unreviewed = await listUnreviewed(pool, reviewed, BATCH);
  for (const login of unreviewed) {
    const newCase = {
      subject: `${reason}:${login}`,
      reason,
      login,
      evidence: {},
      actions: reviewActions(reason, undefined),
    };
    const opened = await inTransaction(pool, async (tx) => openCase(tx, newCase, new Date(await readClock(tx))));
    if (opened === undefined) continue;
    log.error("account is not known everywhere, manual review opened", { login, reason });
  }
  return unreviewed.length;
}

async function closeReviews({ pool }: ReviewDeps, reviewed: Reviewed): Promise<number> {
  const obsolete = await listObsolete(pool, reviewed, BATCH);
  for (const each of obsolete) {
    await inTransaction(pool, async (tx) => closeCase(tx, each, new Date(await readClock(tx))));
  }
  return obsolete.length;
}
