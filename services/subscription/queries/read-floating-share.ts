import type { CallContext } from "#kernel/contract/contract.ts";
import type { ReadFloatingShareRequest, ReadFloatingShareResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { readHoldingNow } from "./holding-now.ts";

const NOT_IN_A_POOL = { masterLogin: undefined, throughNumber: 0n, floatingE8: 0n, markedAt: undefined };

/**
 * The floating result that an Investor has a share in, calculated as at the end of a week. The books must have exactly the deals up to the
 * reading of the positions, all of them allocated; while a Master trades, it is read again.
 */
export async function readFloatingShare(
  deps: Deps,
  { investorLogin }: ReadFloatingShareRequest,
  context: CallContext,
): Promise<ReadFloatingShareResponse> {
  const wanted = { investorLogin, isDecision: true, maxReads: Infinity };
  const { holding } = await readHoldingNow(deps, wanted, async () => undefined, context);
  if (holding === undefined) return NOT_IN_A_POOL;
  const { masterLogin, lastAllocation, value, readAt } = holding;
  return { masterLogin, throughNumber: lastAllocation, floatingE8: value.floating, markedAt: readAt };
}
