import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { tell } from "#kernel/feed/tell.ts";
import type { Money } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { CashflowPosted } from "#proto/pamm/funding/v1/events.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { markPosted } from "../store/cashflows.ts";

export const CASHFLOW_FEED = "funding.cashflows";

type Moved = {
  readonly dealId: bigint;
  /** Signed change of the Investor account. */
  readonly moved: Money;
};

/**
 * Records that the money moved and tells of it, once, whoever learns it first. Platform's journal has proven it already,
 * so a database that fails here takes nothing back: the settling job records it later.
 */
export async function finish(
  deps: Deps,
  cashflow: Cashflow,
  { dealId, moved }: Moved,
  context: CallContext,
): Promise<void> {
  const { operationId, login } = cashflow;
  const postedAt = deps.now();
  try {
    await inTransaction(deps.pool, async (tx) => {
      if (await markPosted(tx, cashflow.id, { dealId, at: postedAt })) {
        const message = { operationId, login, amount: moneyToProto(moved), dealId, postedAt };
        await tell(tx, { feed: CASHFLOW_FEED, event: CashflowPosted, message, requestId: context.requestId });
      }
    });
  } catch (error) {
    deps.log.warn("an executed operation is recorded later", { operation_id: operationId, error });
  }
}
