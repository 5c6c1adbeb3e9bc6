import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import {
  type Attempt,
  AttemptState,
  type ReadAttemptsRequest,
  type ReadAttemptsResponse,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { formatReference } from "../domain/reference.ts";
import { commentOfLeg } from "../protocol/comment-of-leg.ts";
import { kindToProto } from "../protocol/history/account-moved.ts";
import { refuse } from "../refusals.ts";
import { listAttemptsByKey } from "../store/transfer-attempts.ts";

/** What was written to the trading platform under these keys, and what came back. */
export async function readAttempts(
  { pool }: Pick<Deps, "pool">,
  { keys }: ReadAttemptsRequest,
): Promise<ReadAttemptsResponse> {
  if (keys.length < 1 || keys.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} keys.`);
  }
  return { attempts: (await listAttemptsByKey(pool, keys, MAX_PAGE_SIZE)).map(attemptToProto) };
}

type Recorded = Awaited<ReturnType<typeof listAttemptsByKey>>[number];

function attemptToProto(recorded: Recorded): Attempt {
  const { kind, leg, number: attempt, state } = recorded;
  const reference = { kind, number: leg, attempt };
  return {
    transferId: recorded.transfer_id,
    key: recorded.key,
    login: recorded.login,
    kind: kindToProto(kind),
    amount: moneyToProto(usd(recorded.amount_minor)),
    number: attempt,
    reference: formatReference(reference),
    comment: commentOfLeg(reference, recorded),
    state: AttemptState[state],
    grantedAt: recorded.granted_at,
    permitExpiresAt: recorded.permit_expires_at,
    endedAt: recorded.fenced_at ?? undefined,
    answerCode: recorded.answer_code ?? undefined,
    answer: recorded.answer ?? "",
    dealId: state === "APPLIED" ? (recorded.deal_id ?? 0n) : 0n,
    searches: recorded.searches,
    searchedAt: recorded.searched_at ?? undefined,
  };
}
