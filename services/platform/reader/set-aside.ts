import { type NewCase, openCase } from "#kernel/review/cases.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { reviewActions } from "../domain/review-actions.ts";
import { lockAccount, readAgainFrom } from "../store/accounts.ts";

const UNREADABLE = "unreadable_history";

/**
 * Puts a login whose history has a deal that is not as documented behind a mark of its own: it is read from there by itself until
 * it can be read, and the others go on. Its log is incomplete meanwhile, so no account lock of it is granted.
 */
export async function setAside({ pool, log }: Pick<Deps, "pool" | "log">, login: string, from: Date): Promise<void> {
  const isNew = await inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) return false;
    const { undecidedFrom, seenAt } = account;
    if (undecidedFrom !== undefined && undecidedFrom <= from) return false;
    await readAgainFrom(tx, login, from);
    if (undecidedFrom !== undefined) return false;
    const newCase: NewCase = {
      subject: `unreadable:${login}`,
      reason: UNREADABLE,
      login,
      evidence: { unread_from: from.toISOString() },
      actions: reviewActions(UNREADABLE, undefined),
    };
    await openCase(tx, newCase, seenAt);
    return true;
  });
  if (isNew) log.warn("deal is not as documented, its account is read alone until it can be read", { login });
}
