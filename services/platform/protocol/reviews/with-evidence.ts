import type { Queryable } from "#kernel/postgres/query.ts";
import type { Review } from "#proto/pamm/common/v1/review.ts";
import { listAccounts } from "../../store/accounts.ts";
import { listAttemptEvidence, listScanEvidence } from "../../store/reviews.ts";

/** The latest scans of one attempt. An unresolved attempt is scanned until it is resolved, and a page is one message. */
const SCANS_SHOWN = 10;

/** The evidence from the opening of the review, and the current records: attempts, answers, scans, sum of the log. */
export async function withEvidence(db: Queryable, reviews: readonly Review[]): Promise<Review[]> {
  const legs = reviews.flatMap(({ operationId }) => (operationId === "" ? [] : [BigInt(operationId)]));
  const attempts = Map.groupBy(await listAttemptEvidence(db, legs), ({ leg }) => String(leg));
  const scans = Map.groupBy(await listScanEvidence(db, legs, SCANS_SHOWN), ({ leg }) => String(leg));
  const accounts = await listAccounts(
    db,
    reviews.map(({ login }) => login),
  );
  return reviews.map((review) => {
    const { operationId, login } = review;
    const bundle = {
      ...(JSON.parse(review.evidence) as Record<string, unknown>),
      log_now_minor: accounts.get(login)?.logBalance.minor,
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
