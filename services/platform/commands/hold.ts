import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, BUSY_RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { HoldRequest, HoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { Mt5Error } from "../mt5/errors.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { readFacts } from "../protocol/history/read-facts.ts";
import { refuse } from "../refusals.ts";
import { lockAccount } from "../store/accounts.ts";
import { claimLock, grantLock, isReleased, withdrawClaim } from "../store/account-locks.ts";
import { findUnfinished } from "../store/queues.ts";

/** Maximum wait for earlier legs, and for the platform to show their deals. */
const HOLD_WAIT_MS = 5_000;
/** Pause between two reads of the queue of the login. */
const RETRY_MS = 50;

type Claim = { readonly kind: "granted" } | { readonly kind: "wait"; readonly behind: LegNumber | undefined };

/**
 * Acquires the account lock of a login: first the claim, after which no new leg gets a permit, then the grant once
 * all earlier legs have ended, then the facts. Facts are returned only when the balance is the sum of the log.
 */
export async function hold(deps: Deps, request: HoldRequest, context: CallContext): Promise<HoldResponse> {
  const { login, lockOwner } = request;
  if (lockOwner === "") throw refuse("validation_failed", "The lock owner is required.");
  const byMs = performance.now() + Math.min(HOLD_WAIT_MS, remainingMs(context) - REPLY_RESERVE_MS);
  let behind: LegNumber | undefined;
  do {
    const claim = await claimOrGrant(deps, login, lockOwner);
    const facts = claim.kind === "granted" ? await readAgreeing(deps, login) : undefined;
    if (facts !== undefined) return facts;
    behind = claim.kind === "wait" ? claim.behind : undefined;
    await deps.loginSignals.wait(login, RETRY_MS);
  } while (performance.now() < byMs);
  // A granted lock stays: another call of the same lock owner may have received the grant. Only Release ends it.
  await withdrawClaim(deps.pool, login, lockOwner);
  throw busy(behind);
}

/** Under the row lock of the account: claims the account lock, and grants it when all earlier legs have ended. */
async function claimOrGrant({ pool }: Deps, login: string, lockOwner: string): Promise<Claim> {
  return inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
    if (account.role === "payment") throw refuse("validation_failed", "A payment account cannot be locked.");
    if (await isReleased(tx, lockOwner)) throw refuse("lock_not_owned", "The lock was already released.");
    if (account.accountLock === undefined) {
      await claimLock(tx, login, lockOwner);
    } else if (account.accountLock.lockOwner !== lockOwner) {
      return { kind: "wait", behind: undefined };
    }
    const behind = await findUnfinished(tx, login, lockOwner);
    if (behind !== undefined) return { kind: "wait", behind };
    await grantLock(tx, login, lockOwner);
    return { kind: "granted" };
  });
}

/** Undefined while the platform and the log differ, or the platform cannot be read. */
async function readAgreeing(deps: Deps, login: string): Promise<HoldResponse | undefined> {
  try {
    const { isComplete, balanceMinor, positions, account } = await readFacts(deps, login);
    if (!isComplete) return undefined;
    return {
      balance: moneyToProto(usd(balanceMinor)),
      logNumber: account.logNumber,
      logEntryId: account.logEntryId,
      openPositions: positions.length,
    };
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
}

function busy(behind: LegNumber | undefined): Refusal {
  return refuse("account_busy", "Another movement on this account is in progress. Retry shortly.", {
    outcome: "not_executed",
    operationId: behind === undefined ? undefined : String(behind),
    retryAfterMs: BUSY_RETRY_AFTER_MS,
  });
}
