import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { verificationDelayMs, shownWithinMs } from "../domain/next-scan.ts";
import { type Deal, effectOf, isBalanceOperation } from "../mt5/deals.ts";
import { readClock } from "../store/clock.ts";
import {
  type DueVerification,
  type FoundVerification,
  postponeVerification,
  saveVerifications,
} from "../store/deal-verifications.ts";
import { formatReference, readReference } from "../domain/reference.ts";
import { hasReturnedSince, listEmpty } from "../store/unshown-accounts.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";
import { reportAmendments } from "./report-amendments.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";

/** Pause before the next verification on an account that the platform does not show. */
const NOT_SHOWN_PAUSE_MS = 60_000;

/**
 * Verifies the deals of applied legs. One request shows most of them; a deal that it does not show as it was recorded is
 * requested by its own ticket before anything is concluded.
 */
export async function verifyDeals(deps: Deps, due: readonly DueVerification[]): Promise<void> {
  const shown = await deps.mt5.findDealsByTicket(due.map(({ ticket }) => ticket));
  const isAsRecorded = (each: DueVerification): boolean => {
    const deal = shown.get(each.ticket);
    return deal !== undefined && differencesOf(each, deal).length === 0;
  };
  await saveVerifications(deps.pool, due.filter(isAsRecorded).map(withNext));
  for (const verification of due.filter((each) => !isAsRecorded(each))) {
    const { ticket, number: leg, login } = verification;
    try {
      await verify(deps, verification, await deps.mt5.getDeal(ticket));
    } catch (error) {
      // The claim expires, and then another run verifies the deal. The other verifications continue.
      deps.log.info("deal verification failed, retry scheduled", { leg, login, error });
    }
  }
}

async function verify(deps: Deps, due: DueVerification, shown: Deal | undefined): Promise<void> {
  if (shown === undefined) return await afterMissing(deps, due);
  const differences = differencesOf(due, shown);
  if (differences.length === 0) return await finish(deps, due);
  // A ticket that was reused for another login is no longer the deal of this login.
  const amendment = shown.login === due.login ? "deal_changed" : "deal_gone";
  await report(deps, due, { shown, amendment, differences });
}

/** Names of the fields that differ. A comment that was cut or rewritten is no difference; another reference is one. */
export function differencesOf({ login, kind, number, attempt, amountMinor }: DueVerification, shown: Deal): string[] {
  const reference = readReference(shown.comment);
  const isOther = reference !== undefined && formatReference(reference) !== formatReference({ kind, number, attempt });
  return Object.entries({
    login: shown.login !== login,
    amount: effectOf(shown) !== amountMinor,
    action: !isBalanceOperation(shown),
    reference: isOther,
  }).flatMap(([name, isDifferent]) => (isDifferent ? [name] : []));
}

/** A deal is deleted when a complete read does not show it after the time in which every new deal has to appear. */
async function afterMissing(deps: Deps, due: DueVerification): Promise<void> {
  const { mt5, settings, pool } = deps;
  const { login, appliedAt, ticket } = due;
  const shownBy = new Date(appliedAt.getTime() + shownWithinMs(settings.quietPeriodMs));
  const nowMs = await readClock(pool);
  if (nowMs < shownBy.getTime()) return await postponeVerification(pool, due, shownBy);
  const users = await mt5.getUsers([login]);
  if (!users.has(login)) {
    // Nothing is missing on an account without money: the broker may have archived it.
    if ((await listEmpty(pool, [login])).has(login)) return await finish(deps, due);
    await inTransaction(pool, (tx) => reportFinding(tx, { login, reason: "account_not_shown", evidence: {} }));
    return await postponeVerification(pool, due, new Date(nowMs + NOT_SHOWN_PAUSE_MS));
  }
  const to = new Date(Math.max(nowMs, appliedAt.getTime()) + CLOCK_WINDOW_MS);
  const deals = await mt5.readDeals(login, { from: new Date(appliedAt.getTime() - CLOCK_WINDOW_MS), to });
  if (deals.some((deal) => deal.ticket === ticket)) return await finish(deps, due);
  // The deals of a deleted account may be gone with it.
  if (await hasReturnedSince(pool, login, appliedAt)) return await finish(deps, due);
  await report(deps, due, { shown: withReference(due, deals), amendment: "deal_gone", differences: [] });
}

/** Another deal with the reference of the leg: it is an unmatched deal in the log, and the review shows both deals. */
function withReference({ kind, number, attempt }: DueVerification, deals: readonly Deal[]): Deal | undefined {
  const own = formatReference({ kind, number, attempt });
  return deals.find(({ comment }) => comment.startsWith(own));
}

type Seen = {
  readonly shown: Deal | undefined;
  readonly amendment: "deal_gone" | "deal_changed";
  readonly differences: readonly string[];
};

/** One transaction writes the log and the leg, so that a crash leaves no half of the report. */
async function report(deps: Deps, due: DueVerification, seen: Seen): Promise<void> {
  const { login, ticket, appliedAt: at } = due;
  await reportAmendments(deps, [{ login, ticket, at, recorded: undefined, ...seen }]);
  await finish(deps, due);
}

/** Schedules the next verification. A leg that is in manual review by now stays as it is. */
async function finish({ pool }: Deps, due: DueVerification): Promise<void> {
  await saveVerifications(pool, [withNext(due)]);
}

function withNext(due: DueVerification): FoundVerification {
  const nextMs = verificationDelayMs(due.verifications + 1);
  return { ...due, nextAt: nextMs === undefined ? undefined : new Date(due.appliedAt.getTime() + nextMs) };
}
