import { type BatchQueue, batchQueue } from "#kernel/batches/batch-queue.ts";
import { type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { HoldRequest as HoldMessage, HoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import { usd } from "#kernel/values/money.ts";
import type { Deps } from "../deps.ts";
import { holdReasons } from "../domain/hold-reasons.ts";
import { executedBefore, type RequestedMovement } from "../domain/lost-movement.ts";
import { notManaged, refuse } from "../refusals.ts";
import { listReleased, type LockRequest, type RequestedLock, requestLocks } from "../store/account-locks.ts";
import { type Account, listAccounts, lockFreeAccounts } from "../store/accounts.ts";
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
    const accounts = await lockFreeAccounts(
      tx,
      requests.map(({ login }) => login),
    );
    const free = requests.filter((request) => {
      const account = accounts.get(request.login);
      return account !== undefined && refusalOf(account, request) === undefined;
    });
    const requested = await requestLocks(tx, free);
    const unavailable = free.filter(({ login }) => !requested.has(login));
    const released = await listReleased(
      tx,
      unavailable.map(({ lockOwner }) => lockOwner),
    );
    const others = await listAccounts(
      tx,
      requests.flatMap(({ login }) => (accounts.has(login) ? [] : login)),
    );
    return requests.map((request) => {
      const { login, lockOwner } = request;
      const account = accounts.get(login) ?? others.get(login);
      if (account === undefined) return notManaged(login);
      if (released.has(lockOwner)) return refuse("lock_not_owned", "The lock was already released.");
      return requested.get(login) ?? refusalOf(account, request);
    });
  });
}

function refusalOf(account: Account, { withdrawal, acceptsArchived }: HoldRequest): Refusal | undefined {
  const { login, role, isStopped, isArchived, lost } = account;
  if (role === "payment") return refuse("validation_failed", "A payment account cannot be locked.");
  const repeated = withdrawal && executedBefore(withdrawal, lost);
  return holdReasons({ login, isStopped, isArchived: isArchived && !acceptsArchived, lost: repeated })[0];
}

/** The withdrawal that an account lock is for. */
export function intendedWithdrawal({ withdrawal }: Pick<HoldMessage, "withdrawal">): RequestedMovement | undefined {
  if (withdrawal === undefined) return undefined;
  const { amount, comment } = withdrawal;
  return { kind: "withdrawal", amountMinor: -moneyFromProto(amount, "amount").minor, comment };
}

/** The answer to a saga that has the account lock. */
export function heldFacts({ balanceMinor, positions, log }: Omit<Facts, "isComplete">): HoldResponse {
  return {
    balance: moneyToProto(usd(balanceMinor)),
    logNumber: log.number,
    logEntryId: log.entryId,
    openPositions: positions.length,
  };
}
