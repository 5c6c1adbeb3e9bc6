import { retryLevel } from "#kernel/transient-failure.ts";
import { callContext } from "#kernel/contract/context.ts";
import { expired } from "#kernel/queue-until-flat.ts";
import { Refusal } from "#kernel/refusal.ts";
import { later, reasonOf } from "#kernel/retry.ts";
import { settleDeposit } from "../commands/deposit.ts";
import { settleWithdrawal } from "../commands/withdraw.ts";
import { releaseForGood } from "../commands/withdrawal/end-saga.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { listCashflowsById } from "../store/cashflows.ts";
import { cashflowQueue } from "../store/cashflow-transitions.ts";
import { markExpired } from "../store/queued-withdrawals.ts";
import { getSaga, listUnreleased } from "../store/withdrawals.ts";

/** Settled at the same time; each uses one connection and one call at a time. */
const BATCH = 16;
/** The time limit of a money request at the edge. Shorter than CLAIM_MS, so that no other replica settles the same row. */
const ATTEMPT_MS = 10_000;
/** A request that has just ended releases its account lock itself. */
export const RELEASE_AFTER_MS = 3_000;

/** Finishes operations that a crash or a lost answer interrupted. True when more may be due. */
export async function settleCashflows(deps: Deps): Promise<boolean> {
  const claimed = await cashflowQueue.claim(deps.pool, BATCH);
  const tries = new Map(claimed.map((row) => [row.id, row.tries]));
  const cashflows = claimed.length === 0 ? [] : await listCashflowsById(deps.pool, [...tries.keys()]);
  await Promise.all(cashflows.map((cashflow) => settle(deps, cashflow, tries.get(cashflow.id) ?? 0)));
  return claimed.length === BATCH;
}

/** Releases account locks of finished sagas: a crash came between the end of the saga and the release. */
export async function releaseLocks(deps: Deps): Promise<boolean> {
  const before = later(deps.now(), -RELEASE_AFTER_MS);
  const held = await listUnreleased(deps.pool, { before, limit: BATCH });
  for (const id of held) {
    await releaseForGood(deps, await getSaga(deps.pool, id), callContext({ caller: "funding", withinMs: ATTEMPT_MS }));
  }
  return false;
}

/** Continues an operation that this process has claimed. */
export async function settle(deps: Deps, cashflow: Cashflow, tries: number): Promise<void> {
  const { operationId, action, queue } = cashflow;
  // It was claimed because its time to wait is over.
  if (queue?.state === "WAITING") return await expire(deps, cashflow);
  const context = callContext({ caller: "funding", withinMs: ATTEMPT_MS, commandId: operationId });
  try {
    if (action === "deposit") await settleDeposit(deps, cashflow, context);
    else await settleWithdrawal(deps, await getSaga(deps.pool, cashflow.id), context);
  } catch (error) {
    // A refusal ended the saga or left it open for the next try; the row has which.
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("operation not settled, retry scheduled", { operation_id: operationId, error });
    }
    await cashflowQueue.retryLater(deps.pool, [{ id: cashflow.id, tries, reason: reasonOf(error) }]);
  }
}

/** No effect when a try has begun, or its caller has cancelled it. */
async function expire({ pool, now }: Deps, { id, operationId }: Cashflow): Promise<void> {
  await markExpired(pool, id, { refusal: expired(operationId), at: now() });
}
