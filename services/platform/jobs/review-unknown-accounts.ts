import { closeCase, listUndecided, openCase } from "#kernel/review/cases.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { reviewActions } from "../domain/review-actions.ts";
import { readClock } from "../store/clock.ts";
import { listBroken, listUnreviewed } from "../store/unknown-accounts.ts";

type ReviewDeps = Pick<Deps, "pool" | "log">;
type Reviewed = { readonly check: string; readonly reason: string };

/** Reviews of each check that one run opens, and that it looks at again. */
const BATCH = 100;

const REVIEWED: readonly Reviewed[] = [
  { check: "unknown_accounts", reason: "unknown_account" },
  { check: "unregistered_accounts", reason: "unregistered_account" },
];

/** Opens a review for each account with a break of these checks, and closes it with the break, when the account was registered. */
export async function reviewUnknownAccounts(deps: ReviewDeps): Promise<boolean> {
  let hasMore = false;
  for (const reviewed of REVIEWED) {
    const opened = await openReviews(deps, reviewed);
    await closeReviews(deps, reviewed);
    hasMore ||= opened === BATCH;
  }
  return hasMore;
}

async function openReviews({ pool, log }: ReviewDeps, { check, reason }: Reviewed): Promise<number> {
  const unreviewed = await listUnreviewed(pool, { check, reason }, BATCH);
  for (const login of unreviewed) {
    const newCase = {
      subject: `${reason}:${login}`,
      reason,
      login,
      evidence: {},
      actions: reviewActions(reason, undefined),
    };
    await inTransaction(pool, async (tx) => openCase(tx, newCase, new Date(await readClock(tx))));
    log.error("account is not known everywhere, manual review opened", { login, reason });
  }
  return unreviewed.length;
}

async function closeReviews({ pool }: ReviewDeps, { check, reason }: Reviewed): Promise<void> {
  const open = await listUndecided(pool, `${reason}:`, BATCH);
  const logins = open.map(({ login }) => login);
  const broken = new Set(await listBroken(pool, check, logins));
  for (const each of open.filter(({ login }) => !broken.has(login))) {
    await inTransaction(pool, async (tx) => closeCase(tx, each, new Date(await readClock(tx))));
  }
}
