import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import { settleDeposit } from "../commands/deposit.ts";
import { settleWithdrawal } from "../commands/withdraw.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { listCashflowsById } from "../store/cashflows.ts";
import { cashflowQueue } from "../store/cashflow-transitions.ts";

/** Settled at the same time; each uses one connection and one call at a time. */
const BATCH = 16;
/** The time limit of a money request at the edge. Shorter than CLAIM_MS, so that no other replica settles the same row. */
const ATTEMPT_MS = 10_000;

/** Finishes operations that a crash or a lost answer interrupted. True when more may be due. */
export async function settleCashflows(deps: Deps): Promise<boolean> {
  const claimed = await cashflowQueue.claim(deps.pool, BATCH);
  const tries = new Map(claimed.map((row) => [row.id, row.tries]));
  const cashflows = claimed.length === 0 ? [] : await listCashflowsById(deps.pool, [...tries.keys()]);
  await Promise.all(cashflows.map((cashflow) => settle(deps, cashflow, tries.get(cashflow.id) ?? 0)));
  return claimed.length === BATCH;
}

/** Continues an operation that this process has claimed. One that waits until its Master is flat is not tried again before subscription has ended it. */
async function settle(deps: Deps, cashflow: Cashflow, tries: number): Promise<void> {
  const { operationId, action } = cashflow;
  const context = callContext({ caller: "funding", withinMs: ATTEMPT_MS, commandId: operationId });
  try {
    if (action === "deposit") await settleDeposit(deps, cashflow, context);
    else await settleWithdrawal(deps, cashflow, context);
  } catch (error) {
    // A refusal ended the operation or left it open for the next try; the row has which.
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("operation not settled, retry scheduled", { operation_id: operationId, error });
    }
    await cashflowQueue.retryLater(deps.pool, [{ id: cashflow.id, tries, reason: reasonOf(error) }]);
  }
}
