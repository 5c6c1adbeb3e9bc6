import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";
import { reasonOf } from "#kernel/retry.ts";
import { retryLevel } from "#kernel/transient-failure.ts";
import type { Deps } from "../deps.ts";
import { finishChange } from "../processes/finish-payment-account-change.ts";
import { changeQueue, findChange } from "../store/payment-account-changes.ts";

const BATCH = 4;
/** The trading platform is read when an account is taken over. */
const ATTEMPT_MS = 20_000;

/** Finishes changes of payment accounts that a crash or a lost answer interrupted. True when more may be due. */
export async function resumePaymentAccountChanges(deps: Deps): Promise<boolean> {
  const claimed = await changeQueue.claim(deps.pool, BATCH);
  await Promise.all(claimed.map((row) => resume(deps, row)));
  return claimed.length === BATCH;
}

async function resume(deps: Deps, { id, tries }: { readonly id: bigint; readonly tries: number }): Promise<void> {
  try {
    const change = await findChange(deps.pool, id);
    if (change === undefined) return;
    await finishChange(deps, change, callContext({ caller: "account", withinMs: ATTEMPT_MS }));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("payment account change failed, retry scheduled", { id, error });
    }
    // No effect on a change that was refused.
    await changeQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error) }]);
  }
}
