import { callContext } from "#kernel/contract/context.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import type { Deps } from "../deps.ts";
import { erasureQueue, findErasure, markErased, readOpenErasures } from "../store/erasures.ts";
import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { type Erasure, type FinishedErasure, isFinished } from "../domain/erasure.ts";
import { Gauge } from "prom-client";
import type { Pool } from "#kernel/postgres/pool.ts";

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

/** Has the trading platform erase the account, and records the end. A repetition changes nothing, and returns the first end. */
export async function finishErasure(
  deps: Pick<Deps, "pool" | "platform" | "log" | "now">,
  erasure: Erasure,
  context: CallContext,
): Promise<FinishedErasure> {
  if (isFinished(erasure)) return erasure;
  const { login } = erasure;
  const { shown } = await deps.platform.eraseAccount({ login }, context);
  await markErased(deps.pool, login, shown, deps.now());
  const finished = await findErasure(deps.pool, login);
  assert(finished !== undefined && isFinished(finished), `the erasure of ${login} was marked as finished`);
  // Kept outside of the database: after a restore of an older one it says what to erase again.
  deps.log.info("investor erased, repeat it after a restore of an older database", { login });
  return finished;
}

const open = new Gauge({
  name: "pamm_erasures_open",
  help: "Erasures of personal data that the trading platform has not confirmed.",
});
const oldestSeconds = new Gauge({
  name: "pamm_erasure_oldest_open_seconds",
  help: "Time since the oldest of them was requested; 0 without one.",
});

/** Updates the metrics of erasures. */
export async function showErasures(pool: Pool): Promise<void> {
  const { count, seconds } = await readOpenErasures(pool);
  open.set(count);
  oldestSeconds.set(seconds);
}
