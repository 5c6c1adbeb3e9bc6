import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { openPostingOf } from "../../store/postings.ts";
import { catchUp } from "../filing/catch-up.ts";
import type { AccountLock } from "../account-lock.ts";
import { waitBudget } from "../deadlines.ts";
import { sendPostings } from "./send-postings.ts";

/** Of 1,000,000,000.00 each. */
const MAX_POSTINGS = 20;
const WAIT_MS = 3_000;

/**
 * Puts an Investor's own results on its account before its fees and its payout are taken from there, under its account lock. A
 * loss that cannot be taken because the account is at zero does not stand in the way, nor does anything else that was
 * refused for good. False when it is not known yet.
 */
export async function postUnderLock(
  deps: Deps,
  { login, lockOwner }: AccountLock,
  context: CallContext,
): Promise<boolean> {
  const wait = waitBudget(context, WAIT_MS);
  for (let applied = 0; applied < MAX_POSTINGS;) {
    const posting = await inTransaction(deps.pool, (tx) => openPostingOf(tx, login, deps.now()));
    if (posting === undefined) return true;
    const [posted] = await sendPostings(deps, [posting], { lockOwner }, withReplyReserve(context));
    // Without the account lock this is an old question: the saga that asked it has ended.
    if (posted === undefined || posted.state === "refused" || posted.reason === "lock_not_owned") return true;
    if (posted.state === "applied") {
      await fileLog(deps, login, context);
      applied += 1;
    } else if (wait.isOver()) return false;
    else await wait.pause();
  }
  return true;
}

/** What cannot be read now is brought by the feed. */
async function fileLog(deps: Deps, login: string, context: CallContext): Promise<void> {
  try {
    await catchUp(deps, { login }, withReplyReserve(context));
  } catch (error) {
    deps.log.warn("an Investor's log could not be filed", { login, error });
  }
}
