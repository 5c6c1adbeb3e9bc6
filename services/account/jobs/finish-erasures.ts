import { callContext } from "#kernel/contract/context.ts";
import { reasonOf } from "#kernel/retry.ts";
import { retryLevel } from "#kernel/transient-failure.ts";
import type { Deps } from "../deps.ts";
import { finishErasure } from "../processes/finish-erasure.ts";
import { erasureQueue, findErasure } from "../store/erasures.ts";

const BATCH = 8;
/** Below the time for which a row is claimed. */
const ATTEMPT_MS = 20_000;

/** Finishes erasures that a crash or an absent trading platform interrupted. True when more may be due. */
export async function finishErasures(deps: Deps): Promise<boolean> {
  const claimed = await erasureQueue.claim(deps.pool, BATCH);
  await Promise.all(claimed.map((row) => finish(deps, row)));
  return claimed.length === BATCH;
}

async function finish(deps: Deps, { login, tries }: { readonly login: string; readonly tries: number }): Promise<void> {
  try {
    const erasure = await findErasure(deps.pool, login);
    if (erasure === undefined) return;
    await finishErasure(deps, erasure, callContext({ caller: "account", withinMs: ATTEMPT_MS }));
  } catch (error) {
    deps.log[retryLevel(error)]("erasure on the trading platform failed, retry scheduled", { login, error });
    await erasureQueue.retryLater(deps.pool, [{ id: login, tries, reason: reasonOf(error) }]);
  }
}
