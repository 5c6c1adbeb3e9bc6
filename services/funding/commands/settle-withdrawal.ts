import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/failpoint.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { outcomeUnknown } from "../domain/transfer-outcome.ts";
import type { WithdrawalDecision } from "../domain/withdrawal.ts";
import { getCashflow } from "../store/cashflows.ts";
import { getWithdrawal } from "../store/withdrawals.ts";
import { collectFee } from "./withdrawal/collect-fee.ts";
import { holdLane } from "./withdrawal/hold-lane.ts";
import { leavePool } from "./withdrawal/decide-in-pool.ts";
import { payOut } from "./withdrawal/pay-out.ts";

export type SettledWithdrawal = { readonly decision: WithdrawalDecision; readonly dealId: bigint | undefined };

/** More turns than any story has; what still stands then is left to the settling job. */
const MOST_TURNS = 200;

/**
 * Brings a withdrawal from wherever it stands to its end: take the lane, let the pool decide, let what is
 * owed be taken, pay out, let the lane go.
 * Each turn does what the row's state asks for and is safe to do again, so a crash anywhere is continued from the row.
 */
export async function settleWithdrawal(
  deps: Deps,
  { operationId }: Cashflow,
  context: CallContext,
): Promise<SettledWithdrawal> {
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const cashflow = await getCashflow(deps.pool, operationId);
    const withdrawal = await getWithdrawal(deps.pool, cashflow.id);
    const story = { cashflow, withdrawal };
    failpoint("before_withdrawal_step", cashflow.state);
    switch (cashflow.state) {
      case "RECORDED":
        await holdLane(deps, story, context);
        break;
      case "LEAVING":
        await leavePool(deps, story, context);
        break;
      case "COLLECTING":
        await collectFee(deps, story, context);
        break;
      case "PAYING":
        await payOut(deps, story, context);
        break;
      case "REFUSED":
        throw cashflow.refusal ?? outcomeUnknown(operationId);
      case "POSTED":
        return { decision: decided(withdrawal.decision, operationId), dealId: cashflow.dealId };
    }
  }
  throw outcomeUnknown(operationId);
}

function decided(decision: WithdrawalDecision | undefined, operationId: string): WithdrawalDecision {
  if (decision === undefined) {
    throw outcomeUnknown(operationId);
  }
  return decision;
}
