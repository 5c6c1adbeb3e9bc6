import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findFiledNumber } from "../store/filed-numbers.ts";
import { catchUp } from "./filing/catch-up.ts";

export type AccountLock = { readonly login: string; readonly lockOwner: string };

/** Balance, positions and place in the log of a login whose account lock is held: one fact, and filed exactly up to there. */
export type AccountLockFacts = {
  readonly balance: bigint;
  readonly logNumber: bigint;
  readonly logEntryId: bigint;
  readonly openPositions: number;
};

/** Dealers may move money on a held login too; so often in a row is no accident any more. */
const MAX_READS = 5;

/** Takes the account lock and reads what is under it until the ledger stands at exactly that place of the log. */
export async function holdLock(deps: Deps, accountLock: AccountLock, context: CallContext): Promise<AccountLockFacts> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const held = await ask(() => deps.platform.hold(accountLock, withReplyReserve(context)));
    const { logNumber, logEntryId, openPositions } = held;
    await ask(() => catchUp(deps, { login: accountLock.login, upTo: logNumber }, withReplyReserve(context)));
    if ((await findFiledNumber(deps.pool, accountLock.login)) === logNumber) {
      return { balance: moneyFromProto(held.balance, "balance").minor, logNumber, logEntryId, openPositions };
    }
  }
  throw accountBusy("The account keeps changing. Retry shortly.");
}

/** Until it has succeeded the row of the saga keeps the holder, and the settling job tries again. */
export async function releaseLock(deps: Deps, accountLock: AccountLock, context: CallContext): Promise<boolean> {
  try {
    await deps.platform.release(accountLock, context);
    return true;
  } catch (error) {
    deps.log.warn("an account lock is released later", { login: accountLock.login, key: accountLock.lockOwner, error });
    return false;
  }
}

export function accountBusy(message: string): Refusal {
  return refuse("account_busy", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

export function platformUnavailable(message: string): Refusal {
  return refuse("platform_unavailable", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

/** Nothing of money was asked for here, so whatever goes wrong has surely moved nothing. */
async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Also lock_not_owned: somebody has released this holder, so the saga was given up.
    if (error.code === "account_busy" || error.code === "lock_not_owned") {
      throw accountBusy("Another operation of this Investor is in progress. Retry shortly.");
    }
    throw platformUnavailable("The trading platform cannot be reached. Nothing was executed.");
  }
}
