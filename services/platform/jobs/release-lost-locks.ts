import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { SECOND_MS } from "#kernel/duration.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { ownerOf } from "../checks/key-owner.ts";
import type { Deps } from "../deps.ts";
import { listKeptLocks, type LockRequest, releaseLock } from "../store/account-locks.ts";
import { lockAccount } from "../store/accounts.ts";

/** Longer than the deadline of every command. */
const KEPT_FOR_MS = 30 * SECOND_MS;
const LOCKS_PER_RUN = 100;
/** While the service is asked for the last time, the account is locked. */
const CALL_MS = 2_000;

export type LockDeps = Pick<Deps, "pool" | "log" | "loginSignals" | "legsSignal"> & {
  readonly findLockOwners: Client<SubscriptionServiceService>["findLockOwners"];
};

/**
 * Releases account locks of `subscription` whose owners it has lost with commits of its database: no saga would release them. It records
 * an owner before it asks for the lock.
 */
export async function releaseLostLocks(deps: LockDeps): Promise<boolean> {
  const kept = await listKeptLocks(deps.pool, KEPT_FOR_MS, LOCKS_PER_RUN);
  const own = kept.filter(({ lockOwner }) => ownerOf(lockOwner) === "subscription");
  if (own.length === 0) return false;
  const recorded = await listRecorded(deps, own);
  for (const lock of own) if (!recorded.has(lock.lockOwner)) await releaseLost(deps, lock);
  return kept.length === LOCKS_PER_RUN;
}

/** Asks again under the lock of the account: a saga that records the same owner meanwhile acquires it before, or is refused. */
async function releaseLost(deps: LockDeps, lock: LockRequest): Promise<void> {
  const { login, lockOwner } = lock;
  const isReleased = await inTransaction(deps.pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account?.accountLock?.lockOwner !== lockOwner) return false;
    if ((await listRecorded(deps, [lock])).has(lockOwner)) return false;
    await releaseLock(tx, lock);
    return true;
  });
  if (!isReleased) return;
  deps.log.warn("account lock released, because its service has lost the owner", { login, key: lockOwner });
  deps.loginSignals.notify(login);
  deps.legsSignal.notify();
}

async function listRecorded({ findLockOwners }: LockDeps, locks: readonly LockRequest[]): Promise<ReadonlySet<string>> {
  const lockOwners = locks.map(({ lockOwner }) => lockOwner);
  const answer = await findLockOwners({ lockOwners }, callContext({ caller: "platform", withinMs: CALL_MS }));
  return new Set(answer.lockOwners);
}
