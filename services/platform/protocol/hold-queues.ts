import { type BatchQueue, batchQueue } from "#kernel/batches/batch-queue.ts";
import { type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { holdReasons } from "../domain/hold-reasons.ts";
import type { RequestedMovement } from "../domain/lost-movement.ts";
import { notManaged, refuse } from "../refusals.ts";
import { listReleased, type LockRequest, type RequestedLock, requestLocks } from "../store/account-locks.ts";
import { type Account, listRoles, lockFreeAccounts } from "../store/accounts.ts";
import { listRepeats } from "../store/lost-movements.ts";
import { type Facts, readFactsTogether } from "./history/read-facts.ts";

/** An account lock, and the withdrawal that it is acquired for. */
export type HoldRequest = LockRequest & {
  readonly withdrawal: RequestedMovement | undefined;
  /** The caller moves no money when the account is archived. */
  readonly acceptsArchived: boolean;
};

/** Account locks that are asked for at the same time share commits and requests to the platform. */
export type HoldQueues = {
  /** Undefined when another owner, or another transaction, has the account. */
  readonly requesting: BatchQueue<HoldRequest, RequestedLock | undefined>;
  readonly facts: GatheredRead<string, Facts>;
};

/** Accounts of one commit: more would only lengthen it. */
const MAX_REQUESTS = 64;
/** Bounds the memory; a request that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;

export function holdQueues(deps: Deps): HoldQueues {
  return {
    requesting: batchQueue<HoldRequest, RequestedLock | undefined>({
      name: "request account locks",
      maxItems: MAX_REQUESTS,
      maxWaiting: MAX_WAITING,
      maxBatches: 2,
      keyOf: ({ login }) => login,
      run: (requests) => requestTogether(deps.pool, requests),
      maySplit: (error) => !isTransient(error),
    }),
    facts: gatherReads((logins) => readFactsTogether(deps, logins)),
  };
}

/** Under the row locks of the accounts, so that no permit is granted meanwhile. One that is locked already delays no other one. */
async function requestTogether(
  pool: Pool,
  requests: readonly HoldRequest[],
): Promise<(RequestedLock | Error | undefined)[]> {
  return await inTransaction(pool, async (tx) => {
    const logins = requests.map(({ login }) => login);
    const accounts = await lockFreeAccounts(tx, logins);
    const unlocked = logins.filter((login) => !accounts.has(login));
    const managed = unlocked.length === 0 ? new Map() : await listRoles(tx, unlocked);
    const repeated = await listRepeats(tx, requests, ({ login, withdrawal }) =>
      accounts.get(login)?.hasLostMovements === true ? withdrawal : undefined,
    );
    const free = requests.filter((each) => isLockable(accounts.get(each.login), each) && !repeated.has(each));
    const requested = await requestLocks(tx, free);
    const unavailable = free.filter(({ login }) => !requested.has(login));
    const released = await listReleased(
      tx,
      unavailable.map(({ lockOwner }) => lockOwner),
    );
    return requests.map((request) => {
      const { login, lockOwner, acceptsArchived } = request;
      const role = accounts.get(login)?.role ?? managed.get(login);
      if (role === undefined) return notManaged(login);
      if (role === "payment") return refuse("validation_failed", "A payment account cannot be locked.");
      const isStopped = accounts.get(login)?.isStopped === true;
      const isArchived = accounts.get(login)?.isArchived === true && !acceptsArchived;
      const [reason] = holdReasons({ login, isStopped, isArchived, lost: repeated.get(request) });
      if (!isStopped && released.has(lockOwner)) return refuse("lock_not_owned", "The lock was already released.");
      return reason ?? requested.get(login);
    });
  });
}

function isLockable(account: Account | undefined, { acceptsArchived }: HoldRequest): boolean {
  if (account === undefined || account.role === "payment" || account.isStopped) return false;
  return acceptsArchived || !account.isArchived;
}
