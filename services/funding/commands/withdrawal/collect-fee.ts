import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { laneHolder, withdrawalKey } from "../../domain/cashflow.ts";
import { outcomeUnknown } from "../../domain/transfer-outcome.ts";
import { getCashflow } from "../../store/cashflows.ts";
import { markPaying } from "../../store/withdrawals.ts";
import type { Story } from "./end-story.ts";

/**
 * Lets everything be taken that was decided to be owed, before anything is paid out; also when nothing is left to pay. A
 * debit may be on its way from here on, so whatever goes wrong leaves the story to be continued, and never ends it.
 */
export async function collectFee(deps: Deps, { cashflow, withdrawal }: Story, context: CallContext): Promise<void> {
  try {
    const asked = { key: withdrawalKey(cashflow), holder: laneHolder(cashflow, withdrawal.try) };
    await deps.fees.collect(asked, withReplyReserve(context));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    await continueLater(deps, { cashflow, withdrawal }, error);
    return;
  }
  await markPaying(deps.pool, cashflow.id);
}

/** Who finds the lane gone may only be late: another process has brought the story to its end meanwhile. */
async function continueLater(deps: Deps, { cashflow }: Story, error: Refusal): Promise<void> {
  const { state, operationId } = await getCashflow(deps.pool, cashflow.operationId);
  if (state === "COLLECTING") {
    deps.log.warn("a fee is taken later", { operation_id: operationId, login: cashflow.login, error });
    throw outcomeUnknown(operationId);
  }
}
