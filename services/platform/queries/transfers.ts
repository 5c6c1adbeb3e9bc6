import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import {
  type ReadTransfersRequest,
  type ReadTransfersResponse,
  type FindTransferOfDealRequest,
  type FindTransferOfDealResponse,
  type Attempt,
  AttemptState,
  type ReadAttemptsRequest,
  type ReadAttemptsResponse,
} from "#proto/pamm/platform/v1/platform.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { requireSome } from "../refusals.ts";
import { listAttemptsByKey } from "../store/attempts.ts";
import { findLegByDeal, listLegsByKey } from "../store/legs.ts";
import { kindToProto } from "../protocol/history/account-moved.ts";
import { formatReference } from "../domain/reference.ts";
import { commentOfLeg } from "../protocol/comment-of-leg.ts";

/** Of the database that records transfers: a key that is left out was not recorded at that time. */
export async function readTransfers(
  { pool }: Pick<Deps, "pool">,
  { keys }: ReadTransfersRequest,
): Promise<ReadTransfersResponse> {
  requireSome(keys, "keys");
  const recorded = await listLegsByKey(pool, keys);
  return { transfers: Array.from(recorded.values(), transferResult) };
}

export async function findTransferOfDeal(
  { pool, settings }: Pick<Deps, "pool" | "settings">,
  { dealId }: FindTransferOfDealRequest,
): Promise<FindTransferOfDealResponse> {
  const found = await findLegByDeal(pool, settings.server, dealId);
  return found === undefined
    ? { key: "", kind: MovementKind.UNSPECIFIED }
    : { key: found.key, kind: kindToProto(found.status.kind) };
}

/** What was written to the trading platform under these keys, and what came back. */
export async function readAttempts(
  { pool }: Pick<Deps, "pool">,
  { keys }: ReadAttemptsRequest,
): Promise<ReadAttemptsResponse> {
  requireSome(keys, "keys");
  return { attempts: (await listAttemptsByKey(pool, keys, MAX_PAGE_SIZE)).map(attemptToProto) };
}

type Recorded = Awaited<ReturnType<typeof listAttemptsByKey>>[number];

function attemptToProto({ leg, kind, comment, amountMinor, dealId = 0n, state, ...shown }: Recorded): Attempt {
  const reference = { kind, number: leg, attempt: shown.number };
  return {
    ...shown,
    kind: kindToProto(kind),
    amount: moneyToProto(usd(amountMinor)),
    reference: formatReference(reference),
    comment: commentOfLeg(reference, { key: shown.key, comment }),
    state: AttemptState[state],
    dealId: state === "APPLIED" ? dealId : 0n,
  };
}
