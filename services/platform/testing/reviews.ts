import assert from "node:assert/strict";
import { readingOf } from "./reading.ts";
import type { Review } from "#proto/pamm/common/v1/review.ts";
import { DATABASE_BEHIND } from "../domain/review-actions.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { balances } from "../checks/balances.ts";
import { dealMatching } from "../checks/deal-matching.ts";
import { heartbeat } from "../jobs/heartbeat.ts";
import { reportRecovered } from "../commands/recovery.ts";
import { RECOVERY_OWNERS } from "../protocol/reviews/resume-all.ts";
import { readGeneration } from "../store/permit-gate.ts";
import { aCall, eventually, type Instance } from "./world.ts";

const EVERYTHING_OPEN = { afterId: 0n, limit: 100, state: 0 } as const;

export async function openReviews({ service }: Instance): Promise<Review[]> {
  return (await service.listReviews(EVERYTHING_OPEN, aCall())).items;
}

/** The review with this reason, once it is open. */
export async function reviewOf(instance: Instance, reason: string): Promise<Review> {
  const items = await eventually(
    () => openReviews(instance),
    (open) => open.some((review) => review.reason === reason),
  );
  const found = items.find((review) => review.reason === reason);
  assert(found !== undefined);
  return found;
}

type VoteInput = { readonly action: string; readonly dealId?: bigint };

export async function vote({ service }: Instance, review: Review, actor: string, { action, dealId = 0n }: VoteInput) {
  const note = "checked with the dealers";
  const decided = await service.decideReview(
    { reviewId: review.id, action, dealId, note, actor, keyId: `key of ${actor}` },
    aCall(),
  );
  assert(decided.review !== undefined);
  return decided.review;
}

/** Four-eyes approval: proposal and confirmation by two clients. */
export async function decideBoth(instance: Instance, review: Review, input: VoteInput): Promise<Review> {
  await vote(instance, review, "key-of-ann", input);
  return await vote(instance, review, "key-of-bob", input);
}

/** One complete run of the checks that have to hold before permits are granted again, and the reports of the services that repair their books. */
export async function runRequiredChecks({ deps }: Instance): Promise<void> {
  const generation = await readGeneration(deps.pool);
  for (const service of RECOVERY_OWNERS) await reportRecovered(deps, { service, generation });
  const checks = [balances({ ...deps, ...readingOf(deps) }), dealMatching(deps)];
  await insertChecks(deps.pool, checks);
  for (const check of checks) await runCheck(deps, check, undefined);
}

/** Two operators resume when the permits of all accounts have been stopped for a quiet period. Returns the review. */
export async function resumeBoth(instance: Instance): Promise<Review> {
  const review = await reviewOf(instance, DATABASE_BEHIND);
  await vote(instance, review, "key-of-ann", { action: "resume" });
  await approveResume(instance, review);
  return review;
}

/** The second vote, as soon as it is possible: the checks run meanwhile. */
export async function approveResume(instance: Instance, review: Review): Promise<void> {
  // A check that meets a lock runs again, as in the service.
  const approve = () =>
    runRequiredChecks(instance)
      .then(() => vote(instance, review, "key-of-bob", { action: "resume" }))
      .catch(({ message }: Error) => message);
  await eventually(approve, (decided) => typeof decided !== "string");
  await heartbeat(instance.deps);
}
