import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { expired } from "#kernel/queue-until-flat.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { isQueued, lockOwnerOf } from "../../domain/cashflow.ts";
import { notSent, refusalOfLock } from "../../domain/transfer-outcome.ts";
import type { Saga } from "../../domain/withdrawal.ts";
import { findOpenOperation } from "../../store/cashflows.ts";
import { getSaga } from "../../store/withdrawals.ts";
import { endOrWait } from "./end-or-wait.ts";
import { refuseSaga } from "./end-saga.ts";

/** Acquires the Investor's account lock. No money has moved, so a refusal or a passed deadline ends the saga. */
export async function acquireLock(deps: Deps, saga: Saga, context: CallContext): Promise<Saga> {
  const { cashflow, withdrawal } = saga;
  if (deps.now() >= cashflow.deadline) {
    const over = isQueued(cashflow) ? expired(cashflow.operationId) : notSent("The operation could not begin in time.");
    return await refuseSaga(deps, saga, over, context);
  }
  try {
    const lockOwner = lockOwnerOf(cashflow, withdrawal.try);
    const { balance, logNumber } = await deps.platform.hold(
      {
        login: cashflow.login,
        lockOwner,
        withdrawal: { amount: moneyToProto(cashflow.amount), comment: cashflow.comment },
      },
      withReplyReserve(context),
    );
    const held = { balance: moneyFromProto(balance, "balance"), logNumber };
    const { isMoved } = await deps.queues.leaving.add({ id: cashflow.id, try: withdrawal.try, facts: held });
    // Otherwise another process has aborted this try.
    if (!isMoved) return await getSaga(deps.pool, cashflow.id);
    return { cashflow: { ...cashflow, state: "LEAVING" }, withdrawal: { ...withdrawal, held } };
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    return await endOrWait(deps, saga, await refusalOfHold(deps, saga, error), context);
  }
}

async function refusalOfHold({ pool }: Deps, { cashflow }: Saga, refusal: Refusal): Promise<Refusal> {
  const isBusy = refusal.code === "account_busy";
  return refusalOfLock(refusal, isBusy ? await findOpenOperation(pool, cashflow.login, cashflow.id) : undefined);
}
