import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { shownWithinMs } from "../domain/deal-looks.ts";
import type { Deal } from "../mt5/deals.ts";
import { readClock } from "../store/clock.ts";
import { findLoggedDeal } from "../store/logged-deals.ts";
import { listUnshownDeals, type UnshownDeal, type Window } from "../store/amendments.ts";
import { differencesOf } from "./deal-difference.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";

/** A list that lacked a deal and a question for that deal this much later: only both together say that it is gone. */
const ASK_AFTER_MS = 3_000;
/** Questions of one round; after a server that lost a day the others wait for the next. */
const QUESTIONS_PER_ROUND = 50;
/** Times of the platform and of our clock may differ by this much at the edge of a window. */
const EDGE_MS = 2_000;

/** What one reader remembers between its rounds. A reader that starts anew suspects anew. */
export class DeletedDeals {
  readonly #pendingBreaks = new Map<bigint, { readonly logged: UnshownDeal; readonly missedAtMs: number }>();
  readonly #shownAtMs = new Map<bigint, number>();

  /** These are in the history, so that they may be missed from now on. */
  show(deals: readonly Deal[]): void {
    const now = performance.now();
    for (const { ticket, login } of deals) {
      this.#shownAtMs.set(ticket, now);
      if (this.#pendingBreaks.get(ticket)?.logged.login === login) this.#pendingBreaks.delete(ticket);
    }
  }

  /** Suspects what was told about a window that a reading has just shown without it. */
  async pendingBreak(deps: Deps, window: Window, deals: readonly Deal[]): Promise<void> {
    const { pool, settings } = deps;
    const from = new Date(window.from.getTime() + EDGE_MS);
    const withinMs = shownWithinMs(settings.quietPeriodMs);
    const lateFrom = (await readClock(pool)) - withinMs;
    const missedAtMs = performance.now();
    for (const logged of await listUnshownDeals(pool, settings.server, { ...window, from }, deals)) {
      const wasShown = logged.serverMsc !== null || this.#shownAtMs.has(logged.ticket);
      const isPendingBreak = wasShown || logged.at.getTime() < lateFrom;
      if (isPendingBreak && !this.#pendingBreaks.has(logged.ticket)) {
        this.#pendingBreaks.set(logged.ticket, { logged, missedAtMs });
      }
    }
    this.#forget(missedAtMs - withinMs);
  }

  /** Asks for each suspect by its ticket, and tells of those that the platform has no more. */
  async ask(deps: Deps): Promise<void> {
    const askFrom = performance.now() - ASK_AFTER_MS;
    const due = [...this.#pendingBreaks.values()].filter(({ missedAtMs }) => missedAtMs <= askFrom);
    const asked = due.slice(0, QUESTIONS_PER_ROUND);
    const found: Amendment[] = [];
    for (const { logged } of asked) {
      const amendment = await judge(deps, logged);
      if (amendment !== undefined) found.push(amendment);
    }
    await reportAmendments(deps, await ofShownAccounts(deps, found));
    for (const { logged } of asked) this.#pendingBreaks.delete(logged.ticket);
  }

  #forget(beforeMs: number): void {
    for (const [ticket, shownAtMs] of this.#shownAtMs) if (shownAtMs < beforeMs) this.#shownAtMs.delete(ticket);
  }
}

async function judge(
  { mt5, pool, settings }: Deps,
  { login, ticket, at }: UnshownDeal,
): Promise<Amendment | undefined> {
  const shown = await mt5.getDeal(ticket);
  // Undefined for a Master's own operation that no reading has shown yet.
  const told = await findLoggedDeal(pool, settings.server, login, ticket);
  // A ticket that was given again to another login is no longer this login's deal.
  if (shown === undefined || shown.login !== login) {
    return { login, ticket, at, told, shown, amendment: "deal_gone", differences: [] };
  }
  const differences = told === undefined ? [] : differencesOf(told, shown);
  if (differences.length === 0) return undefined;
  return { login, ticket, at, told, shown, amendment: "deal_changed", differences };
}

/** An account that the platform does not show us any more has not lost its deals: it is out of our sight. */
async function ofShownAccounts({ mt5, pool }: Deps, found: readonly Amendment[]): Promise<Amendment[]> {
  if (found.length === 0) return [];
  const logins = [...new Set(found.map(({ login }) => login))];
  const users = await mt5.getUsers(logins);
  for (const login of logins.filter((each) => !users.has(each))) {
    await inTransaction(pool, (tx) => reportFinding(tx, { login, reason: "account_not_shown", evidence: {} }));
  }
  return found.filter(({ login }) => users.has(login));
}
