import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { lockOwnerOf } from "../../domain/cashflow.ts";
import { notSent, refusalOfTransfer } from "../../domain/transfer-outcome.ts";
import { findOpenOperation } from "../../store/cashflows.ts";
import { markLeaving } from "../../store/withdrawals.ts";
import { refuseSaga, type Saga } from "./end-saga.ts";

/** Acquires the Investor's account lock. No money has moved, so a refusal or a passed deadline ends the saga. */
export async function acquireLock(deps: Deps, saga: Saga, context: CallContext): Promise<void> {
  const { cashflow, withdrawal } = saga;
  if (deps.now() >= cashflow.deadline) {
    return await refuseSaga(deps, saga, notSent("The operation could not begin in time."), context);
  }
  try {
    const lockOwner = lockOwnerOf(cashflow, withdrawal.try);
    const { balance, logNumber } = await deps.platform.hold(
      { login: cashflow.login, lockOwner },
      withReplyReserve(context),
    );
    const facts = { balance: moneyFromProto(balance, "balance"), logNumber };
    // False: another process has aborted this try; the next turn reads the new state.
    await markLeaving(deps.pool, cashflow.id, { try: withdrawal.try, facts });
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    await refuseSaga(deps, saga, await refusalOfHold(deps, saga, error), context);
  }
}

async function refusalOfHold({ pool }: Deps, { cashflow }: Saga, { code }: Refusal): Promise<Refusal> {
  if (code === "account_busy") {
    const blockedBy = await findOpenOperation(pool, cashflow.login, cashflow.id);
    return refusalOfTransfer({ kind: "refused", code, platformCode: 0 }, blockedBy);
  }
  return notSent("The trading platform cannot be reached.");
}
