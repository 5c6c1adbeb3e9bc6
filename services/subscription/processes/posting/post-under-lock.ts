import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { claimPostings, lockPostingOf } from "../../store/postings.ts";
import { tryToCatchUp } from "../filing/catch-up.ts";
import type { AccountLock } from "../account-lock.ts";
import { waitBudget } from "../deadlines.ts";
import { sendPostings } from "./send-postings.ts";

/**
 * Nothing waits for such a posting. lock_not_owned: the saga that held the account lock has ended. account_archived: the result is posted when the
 * broker restores the account.
 */
const NOT_WAITED_FOR = new Set(["lock_not_owned", "account_archived"]);

/** Limits the work under one account lock; each posting moves up to 1,000,000,000.00, so one is normally enough. */
const MAX_POSTINGS = 20;
/** Long enough for the trading platform to execute a posting; the rest of the saga needs the remaining wait budget. */
const WAIT_MS = 3_000;

/**
 * Posts the open results of an Investor to its account, under its account lock, before its fees and its payout are taken
 * from there. A finally refused posting does not block them, for example a loss on an account with balance 0.00. False when
 * the outcome of a posting is not known within the wait budget, or when more may be open after the last one.
 */
export async function postUnderLock(
  deps: Deps,
  { login, lockOwner }: AccountLock,
  context: CallContext,
): Promise<boolean> {
  const wait = waitBudget(context, WAIT_MS);
  for (let ended = 0; ended < MAX_POSTINGS;) {
    if ((await deps.departureReads.unposted(login)) === undefined) return true;
    const [posting] = await inTransaction(deps.pool, async (tx) => {
      await lockPostingOf(tx, login);
      return await claimPostings(tx, [login]);
    });
    if (posting === undefined) return true;
    const [posted] = await sendPostings(deps, [posting], { lockOwner }, withReplyReserve(context));
    if (posted?.state !== "applied") deps.wakeSignals.postings.notify();
    if (posted === undefined || posted.state === "refused" || NOT_WAITED_FOR.has(posted.reason)) return true;
    if (posted.state !== "waits") {
      if (posted.state === "applied") await tryToCatchUp(deps, login, withReplyReserve(context));
      ended += 1;
    } else if (wait.isOver()) return false;
    else await wait.pause();
  }
  return false;
}
