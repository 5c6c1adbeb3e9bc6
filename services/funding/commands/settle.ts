import { setTimeout as pause } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { outcomeUnknown } from "../domain/transfer-outcome.ts";
import { markNeverSent } from "../store/cashflow-transitions.ts";

/** Nothing was recorded by this call. */
export type NotSent = { readonly kind: "not_sent"; readonly refusal: Refusal };

type Called<Answer> = { readonly kind: "answered"; readonly answer: Answer } | NotSent | { readonly kind: "lost" };

/** A replica that was killed is replaced within a second or two. */
const RETRY_PAUSE_MS = 200;
/** Shortest remaining wait budget that is worth another call. */
const MIN_CALL_MS = 1_500;

/** Distinguishes answered, certainly not sent and lost. After a lost answer the call is repeated while the caller waits: it is executed once. */
export async function callUntilAnswered<Answer>(
  call: (context: CallContext) => Promise<Answer>,
  context: CallContext,
): Promise<Called<Answer>> {
  for (let isLost = false; ; await pause(RETRY_PAUSE_MS)) {
    try {
      return { kind: "answered", answer: await call(withReplyReserve(context)) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // After a lost answer a later refusal does not prove that the first request was not recorded.
      if (!isLost && wasSurelyNotSent(error)) return { kind: "not_sent", refusal: error };
    }
    isLost = true;
    if (remainingMs(context) < MIN_CALL_MS) return { kind: "lost" };
  }
}

/** A request that is refused without a record of it counts as not sent. */
function wasSurelyNotSent({ status, outcome }: Refusal): boolean {
  if (outcome !== undefined) return outcome === "not_executed";
  return status === "invalid" || status === "not_found" || status === "conflict";
}

/** Ends the operation as not executed, unless the recovery job or a repetition works on it too: that one may have sent it. */
export async function endUnsent({ pool, now }: Deps, { id, operationId }: Cashflow, refusal: Refusal): Promise<Error> {
  const isOver = await markNeverSent(pool, id, { refusal, at: now() });
  return isOver ? refusal : outcomeUnknown(operationId);
}

/** Records that it was executed. The service that did has recorded it already, so after a database failure the recovery job records it. */
export async function finish(
  { queues, log, now }: Deps,
  { id, operationId }: Cashflow,
  dealId: bigint | undefined,
): Promise<void> {
  try {
    await queues.posting.add({ id, at: now(), dealId });
  } catch (error) {
    log.info("executed operation not recorded, retry scheduled", { operation_id: operationId, error });
  }
}
