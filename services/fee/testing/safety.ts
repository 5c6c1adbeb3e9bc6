import { many, sql } from "#kernel/postgres/query.ts";
import { stopOnBreaks } from "#kernel/reconcile/stop-on-breaks.ts";
import { listReviews } from "#kernel/review/list-reviews.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { type Review, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aBreak } from "#test/support/break.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { decideReview } from "../commands/decide-review.ts";
import type { Deps } from "../deps.ts";
import { watchPaymentAccounts } from "../jobs/watch-payment-accounts.ts";
import { aCall, PAYMENT_ACCOUNT } from "./fee.ts";
import type { World } from "./world.ts";
import { stoppingBreaks } from "../processes/stop-for-break.ts";

/** A break on the payment account. */
export function aPaymentBreak(id: bigint, own: Partial<Break> = {}): Break {
  return aBreak(id, { login: PAYMENT_ACCOUNT, ...own });
}

/** Adds an entry to the log of an account: a credit, or the amendment of a deal. */
export function appendToLog(world: World, { login = PAYMENT_ACCOUNT, reason = "", dealId = 4_711n } = {}): void {
  const kind = reason === "" ? MovementKind.FEE_CREDIT : MovementKind.AMENDMENT;
  enter(world.platform.ledger, login, { kind, amount: 0n, reason, dealId });
}

/** Runs both jobs that detect breaks. */
export async function detectBreaks(deps: Deps): Promise<void> {
  await watchPaymentAccounts(deps);
  await stopOnBreaks(deps.pool, stoppingBreaks(deps));
}

/** The reason of the stop of each Master; null for a Master that is not stopped. */
export async function stopsOf({ deps }: World): Promise<Record<string, string | null>> {
  const rows = await many<{ login: string; reason: string | null }>(
    deps.pool,
    sql`select master_login as login, break_reason as reason from fee_master order by 1`,
  );
  return Object.fromEntries(rows.map(({ login, reason }) => [login, reason]));
}

export async function reviewsOf({ deps }: World): Promise<readonly Review[]> {
  const all = { afterId: 0n, limit: 100, state: ReviewState.UNSPECIFIED };
  return (await listReviews(deps.pool, all)).items;
}

/** Proposal and approval by two API keys. */
export async function resume(world: World, reviewId: bigint): Promise<void> {
  await vote(world.deps, reviewId, "anna");
  await vote(world.deps, reviewId, "boris");
}

/** Resumes all undecided reviews by two votes; after a crash it continues with the missing ones. */
export async function resumeAll(world: World, deps: Deps): Promise<void> {
  for (const { id, state } of await reviewsOf(world)) {
    if (state === ReviewState.OPEN) await vote(deps, id, "anna");
    await vote(deps, id, "boris");
  }
}

export async function vote(deps: Deps, reviewId: bigint, actor: string) {
  const request = {
    reviewId,
    action: "resume",
    dealId: 0n,
    note: "checked by the dealers",
    actor,
    keyId: `key of ${actor}`,
  };
  return await decideReview(deps, request, aCall());
}
