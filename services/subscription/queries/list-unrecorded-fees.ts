import { RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import type {
  ListUnrecordedFeesRequest,
  ListUnrecordedFeesResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isNotNegative, validate } from "../domain/validate.ts";
import { recordFeesRequest } from "../messages/fee-facts.ts";
import { listUnrecorded } from "../store/fee-decisions.ts";

const MAX_DECISIONS = 20;
/** Bounds the memory of a page; a decision alone may have more. */
const MAX_BYTES = 500_000;

/** The next decisions that `fee` has not answered for: at least one while there are any. */
export async function listUnrecordedFees(
  { pool }: Pick<Deps, "pool">,
  { afterId }: ListUnrecordedFeesRequest,
): Promise<ListUnrecordedFeesResponse> {
  validate(isNotNegative("after_id", afterId));
  const decisions: RecordFeesRequest[] = [];
  let nextAfterId = 0n;
  let bytes = 0;
  for (const decision of await listUnrecorded(pool, afterId, MAX_DECISIONS)) {
    const request = recordFeesRequest(decision);
    bytes += RecordFeesRequest.encode(request).finish().length;
    if (bytes > MAX_BYTES && decisions.length > 0) break;
    decisions.push(request);
    nextAfterId = decision.id;
  }
  return { decisions, nextAfterId };
}
