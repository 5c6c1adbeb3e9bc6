import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";
import { reasonOf } from "#kernel/retry.ts";
import { retryLevel } from "#kernel/transient-failure.ts";
import type { Deps } from "../deps.ts";
import { finishChange } from "../processes/change-payment-account.ts";
import { changeQueue, type PaymentAccountChange } from "../store/payment-account-changes.ts";

const BATCH = 4;
const ATTEMPT_MS = 10_000;

/** Finishes changes of payment accounts that a crash or a lost answer interrupted. True when more may be due. */
export async function resumePaymentAccountChanges(deps: Deps): Promise<boolean> {
  const claimed = await changeQueue.claim(deps.pool, BATCH);
  await Promise.all(claimed.map((change) => resume(deps, change)));
  return claimed.length === BATCH;
}

async function resume(deps: Deps, change: PaymentAccountChange): Promise<void> {
  try {
    await finishChange(deps, change, callContext({ caller: "account", withinMs: ATTEMPT_MS }));
  } catch (error) {
    const { id, tries } = change;
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("payment account change failed, retry scheduled", { id, error });
    }
    // No effect on a change that was refused.
    await changeQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error) }]);
  }
}
