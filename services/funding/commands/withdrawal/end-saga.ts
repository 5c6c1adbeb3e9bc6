import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { lockOwnerOf } from "../../domain/cashflow.ts";
import type { Saga } from "../../domain/withdrawal.ts";
import { markRefused } from "../../store/cashflow-transitions.ts";
import { getSaga, lockTry, markReleased } from "../../store/withdrawals.ts";

/**
 * Ends the saga with a refusal and releases the account lock, unless another process has moved the saga on or to another try.
 * Returns the saga as it is then.
 */
export async function refuseSaga(deps: Deps, saga: Saga, refusal: Refusal, context: CallContext): Promise<Saga> {
  const { id, state } = saga.cashflow;
  const isOver = await inTransaction(deps.pool, async (tx) => {
    if (!(await lockTry(tx, id, saga.withdrawal.try))) {
      return false;
    }
    return await markRefused(tx, id, { from: state, refusal, at: deps.now() });
  });
  if (isOver) {
    await releaseForGood(deps, saga, context);
  }
  return await getSaga(deps.pool, id);
}

/** False when the release failed: the row then still has the lock as unreleased, and the recovery job releases it. */
export async function releaseLock(deps: Deps, { cashflow, withdrawal }: Saga, context: CallContext): Promise<boolean> {
  try {
    const lockOwner = lockOwnerOf(cashflow, withdrawal.try);
    await deps.platform.release({ login: cashflow.login, lockOwner }, context);
    return true;
  } catch (error) {
    deps.log.info("account lock not released, retry scheduled", {
      operation_id: cashflow.operationId,
      login: cashflow.login,
      error,
    });
    return false;
  }
}

/** Releases the account lock of a finished saga and records the release. */
export async function releaseForGood(deps: Deps, saga: Saga, context: CallContext): Promise<void> {
  if (await releaseLock(deps, saga, context)) {
    await markReleased(deps.pool, saga.cashflow.id);
  }
}
