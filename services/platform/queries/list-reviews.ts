import type { Queryable } from "#kernel/postgres/query.ts";
import { listReviews as list } from "#kernel/review/list-reviews.ts";
import type { ListReviewsRequest, ListReviewsResponse, Review } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { listAttemptEvidence, listLogSums, listScanEvidence } from "../store/reviews.ts";

/** Number of the latest scans that are shown of one attempt. */
const SCANS_SHOWN = 10;

/** A page of reviews, each with all recorded evidence. */
export async function listReviews({ pool }: Deps, request: ListReviewsRequest): Promise<ListReviewsResponse> {
  const { items, hasMore } = await list(pool, request);
  return { items: await withBundle(pool, items), hasMore };
}

/** The evidence from the opening of the review, and the current records: attempts, answers, scans, sum of the log. */
export async function withBundle(db: Queryable, reviews: readonly Review[]): Promise<Review[]> {
  const legs = reviews.flatMap(({ operationId }) => (operationId === "" ? [] : [BigInt(operationId)]));
  const attempts = Map.groupBy(await listAttemptEvidence(db, legs), ({ leg }) => String(leg));
  const scans = Map.groupBy(await listScanEvidence(db, legs, SCANS_SHOWN), ({ leg }) => String(leg));
  const sums = await listLogSums(
    db,
    reviews.map(({ login }) => login),
  );
  return reviews.map((review) => {
    const { operationId, login } = review;
    const bundle = {
      ...(JSON.parse(review.evidence) as Record<string, unknown>),
      log_now_minor: sums.get(login),
      attempts: attempts.get(operationId) ?? [],
      scans: scans.get(operationId) ?? [],
    };
    return { ...review, evidence: JSON.stringify(bundle, asText) };
  });
}

/** Amounts and tickets as text, because JSON numbers lose digits. */
function asText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
