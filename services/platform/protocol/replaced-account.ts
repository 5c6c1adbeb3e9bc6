import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { closeCase, lockUndecidedCase, type NewCase, openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { OTHER_ACCOUNT, reviewActions } from "../domain/review-actions.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { resumeReplaced, stopAccount } from "../store/account-stops.ts";
import { readClock } from "../store/clock.ts";
import { findFirstTicket, findTicketOfOthers } from "../store/deal-records.ts";
import { isAcknowledged } from "../store/reviews.ts";
import { markReplaced, markShown, noteRegistrations } from "../store/unshown-accounts.ts";

type Identity = "same" | "other" | "unknown";

/**
 * Whether the platform shows with this login the account of the log: one that was restored shows its first deal, one that was created with the login of a deleted
 * account does not. The last deals prove nothing: they may be of the other one. Nothing begins on that, whatever its balance: its money is of
 * another person. A log without deals has nothing to lose. False also when it is not known yet.
 */
export async function isSameAccount(deps: Deps, login: string): Promise<boolean> {
  const { log, settings, pool } = deps;
  const ticket = await findFirstTicket(pool, settings.server, login);
  if (ticket === undefined) return true;
  const identity = await identify(deps, login, ticket).catch((error: unknown): Identity => {
    if (!(error instanceof Mt5Error)) throw error;
    log.info("deals of an account that is shown again not read, retry scheduled", { login, error });
    return "unknown";
  });
  if (identity === "other") await noteReplaced(deps, login, ticket);
  return identity === "same";
}

async function identify(deps: Deps, login: string, ticket: bigint): Promise<Identity> {
  const { mt5, pool, settings } = deps;
  if ((await mt5.getDeal(ticket))?.login === login) return "same";
  // A server that starts shows no deal of any account yet.
  const known = await findTicketOfOthers(pool, settings.server, login);
  return known !== undefined && (await mt5.getDeal(known)) === undefined ? "unknown" : "other";
}

function subjectOf(login: string): string {
  return `${OTHER_ACCOUNT}:${login}`;
}

async function noteReplaced({ pool, log }: Deps, login: string, ticket: bigint): Promise<void> {
  const why = `The trading platform does not show deal ${ticket}, the first one in the log of account ${login}: the account was deleted, and another one has its login.`;
  await inTransaction(pool, async (tx) => {
    const subject = subjectOf(login);
    const isKnown = await isAcknowledged(tx, subject);
    const evidence = { why };
    const review: NewCase = {
      subject,
      reason: OTHER_ACCOUNT,
      login,
      evidence,
      actions: reviewActions(OTHER_ACCOUNT, undefined),
    };
    const opened = isKnown ? undefined : await openCase(tx, review, new Date(await readClock(tx)));
    if (!(await markReplaced(tx, login))) await stopAccount(tx, login, `${OTHER_ACCOUNT}: ${why}`);
    if (opened === undefined) return;
    afterCommit(tx, () =>
      log.error("login has another account, nothing is sent on it, manual review opened", { login }),
    );
  });
}

/** Its deals are shown: it is the account again. The case is locked before the account, as in decideReview. */
export async function closeReplaced(tx: Transaction, login: string): Promise<void> {
  const known = await lockUndecidedCase(tx, subjectOf(login));
  if (known !== undefined) await closeCase(tx, known, new Date(await readClock(tx)));
  await resumeReplaced(tx, login);
}

/** Operators have decided that it is the account, although the platform shows another history. */
export async function acceptReplaced(tx: Transaction, login: string): Promise<void> {
  await noteRegistrations(tx, [{ login, registration: null }]);
  await markShown(tx, login);
  await resumeReplaced(tx, login);
}
