import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReleaseRequest, ReleaseResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { lockAccount } from "../store/accounts.ts";
import { releaseLock } from "../store/account-locks.ts";

/** Releases an account lock for good. A later Hold of the same lock owner finds the released lock and is refused. */
export async function release(deps: Deps, { login, lockOwner }: ReleaseRequest): Promise<ReleaseResponse> {
  if (lockOwner === "") throw refuse("validation_failed", "The lock owner is required.");
  await inTransaction(deps.pool, async (tx) => {
    await lockAccount(tx, login);
    await releaseLock(tx, { login, lockOwner });
  });
  deps.loginSignals.notify(login);
  deps.legsSignal.notify();
  return {};
}
