import { callContext } from "#kernel/contract/context.ts";
import type { Deps } from "../../deps.ts";
import { decisionOf } from "../../messages/decision.ts";
import { recordDecision } from "../recording/record-decision.ts";

/** Of one call. */
const WITHIN_MS = 5_000;

/**
 * Records what subscription has decided and has no answer about. Platform may have executed it, in the database that was lost: it is a payment
 * before it is settled, and not an imported fee.
 */
export async function recordUnrecorded(deps: Deps): Promise<void> {
  const context = () => callContext({ caller: "fee", withinMs: WITHIN_MS });
  let afterId = 0n;
  do {
    const page = await deps.subscriptions.listUnrecordedFees({ afterId }, context());
    for (const decision of page.decisions) await recordDecision(deps, decisionOf(decision), context());
    afterId = page.nextAfterId;
  } while (afterId > 0n);
}
