import { setTimeout as sleep } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { ReadFloatingShareRequest, ReadFloatingShareResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { floatingBefore } from "../domain/floating-before.ts";
import { floatingShares } from "../domain/pool/floating-shares.ts";
import type { Deps } from "../deps.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { marksOf } from "../messages/marks.ts";
import { refuse } from "../refusals.ts";
import { findPoolShare, type PoolShare } from "../store/pool-shares.ts";

/** Pause between two readings of a Master whose deals are not in the books yet. */
const PAUSE_MS = 100;
const NOT_IN_A_POOL = { masterLogin: undefined, throughNumber: 0n, floatingE8: 0n, markedAt: undefined };

/**
 * The floating result that an Investor has a share in, calculated as at the end of a week. The books must have exactly the deals up to the
 * reading of the positions; while a Master trades, it is read again. Locks and changes nothing.
 */
export async function readFloatingShare(
  deps: Deps,
  { investorLogin }: ReadFloatingShareRequest,
  context: CallContext,
): Promise<ReadFloatingShareResponse> {
  for (;;) {
    const known = await findPoolShare(deps.pool, investorLogin);
    if (known === undefined) return NOT_IN_A_POOL;
    if (known.isStopped) throw safetyStop(known.masterLogin, "stopped");
    if (known.pool.positions.length === 0) return answer(known, 0n, undefined);
    const { logNumber, complete, marks, readAt } = await readPositions(deps, known.masterLogin, context);
    const share = await findPoolShare(deps.pool, investorLogin);
    const isSame = share?.masterLogin === known.masterLogin && share.filedNumber === logNumber && share.isAllocated;
    if (isSame && complete) {
      const shares = floatingShares(share.pool, floatingBefore(share.pool, marks, []));
      const own = shares.get(share.subscriptionId) ?? 0n;
      return answer(share, own, share.pool.positions.length === 0 ? undefined : readAt);
    }
    if (remainingMs(context) < REPLY_RESERVE_MS + PAUSE_MS) throw behind(known);
    await sleep(PAUSE_MS);
  }
}

async function readPositions({ platform, now }: Deps, login: string, context: CallContext) {
  const readAt = now();
  const { logNumber, complete, positions } = await failAsUnavailable(() => platform.readAccount({ login }, context));
  return { logNumber, complete, marks: marksOf(positions), readAt };
}

function answer(
  { masterLogin, lastAllocation }: PoolShare,
  floatingE8: bigint,
  markedAt: Date | undefined,
): ReadFloatingShareResponse {
  return { masterLogin, throughNumber: lastAllocation, floatingE8, markedAt };
}

function behind({ masterLogin }: PoolShare): Error {
  const message = `The latest deals of Master ${masterLogin} are not allocated yet. Retry shortly.`;
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}
