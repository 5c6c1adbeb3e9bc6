import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { laneHolder, type Cashflow } from "../../domain/cashflow.ts";
import type { Withdrawal } from "../../domain/withdrawal.ts";
import { markRefused } from "../../store/cashflows.ts";
import { lockTry, markReleased } from "../../store/withdrawals.ts";

export type Story = { readonly cashflow: Cashflow; readonly withdrawal: Withdrawal };

/** Ends the story with a refusal unless it has gone on meanwhile, also to another try, and lets the lane go. */
export async function refuseStory(deps: Deps, story: Story, refusal: Refusal, context: CallContext): Promise<void> {
  const { id, state } = story.cashflow;
  const isOver = await inTransaction(deps.pool, async (tx) => {
    if (!(await lockTry(tx, id, story.withdrawal.try))) {
      return false;
    }
    return await markRefused(tx, id, { from: state, refusal, at: deps.now() });
  });
  if (isOver) {
    await releaseForGood(deps, story, context);
  }
}

/** A lane that can not be let go now is let go by the settling job: the row says that it is still held. */
export async function releaseLane(deps: Deps, { cashflow, withdrawal }: Story, context: CallContext): Promise<boolean> {
  try {
    const holder = laneHolder(cashflow, withdrawal.try);
    await deps.platform.release({ login: cashflow.login, holder }, context);
    return true;
  } catch (error) {
    deps.log.warn("a lane is released later", { operation_id: cashflow.operationId, login: cashflow.login, error });
    return false;
  }
}

/** The last word about the lane of a story that is over. */
export async function releaseForGood(deps: Deps, story: Story, context: CallContext): Promise<void> {
  if (await releaseLane(deps, story, context)) {
    await markReleased(deps.pool, story.cashflow.id);
  }
}
