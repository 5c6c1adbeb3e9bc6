import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import { type Erasure, type FinishedErasure, isFinished } from "../domain/erasure.ts";
import { findErasure, markErased } from "../store/erasures.ts";

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
