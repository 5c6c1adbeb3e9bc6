import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { shownWithinMs } from "../domain/next-scan.ts";
import type { Deal } from "../mt5/deals.ts";
import { readClock } from "../store/clock.ts";
import { findLoggedDeal } from "../store/logged-deals.ts";
import { listUnshownDeals, type UnshownDeal, type Window } from "../store/amendments.ts";
import { differencesOf } from "./deal-difference.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";

/** A deal counts as deleted when a list lacked it and a request for its ticket, at least this much later, finds no deal. */
const CONFIRM_AFTER_MS = 3_000;
/** Maximum requests of one run. When a server has lost a day of deals, the remaining deals wait for the next run. */
const REQUESTS_PER_RUN = 50;
/** The clocks of the platform and of the database may differ by this much at the edge of a window. */
const EDGE_MS = 2_000;

/** The missing deals that one reader keeps in memory between its runs. A new reader starts empty and finds them again. */
export class DeletedDeals {
  readonly #missing = new Map<bigint, { readonly logged: UnshownDeal; readonly missedAtMs: number }>();
  readonly #shownAtMs = new Map<bigint, number>();

  /** Notes deals that the history shows: a deal that a later read lacks counts as missing. */
  noteShown(deals: readonly Deal[]): void {
    const now = performance.now();
    for (const { ticket, login } of deals) {
      this.#shownAtMs.set(ticket, now);
      if (this.#missing.get(ticket)?.logged.login === login) this.#missing.delete(ticket);
    }
  }

  /** Notes as missing the recorded deals of a window that a read of this window did not show. */
  async noteMissing(deps: Deps, window: Window, deals: readonly Deal[]): Promise<void> {
    const { pool, settings } = deps;
    const from = new Date(window.from.getTime() + EDGE_MS);
    const withinMs = shownWithinMs(settings.quietPeriodMs);
    const lateFrom = (await readClock(pool)) - withinMs;
    const missedAtMs = performance.now();
    for (const logged of await listUnshownDeals(pool, settings.server, { ...window, from }, deals)) {
      const wasShown = logged.serverMsc !== null || this.#shownAtMs.has(logged.ticket);
      const isMissing = wasShown || logged.at.getTime() < lateFrom;
      if (isMissing && !this.#missing.has(logged.ticket)) this.#missing.set(logged.ticket, { logged, missedAtMs });
    }
    this.#forget(missedAtMs - withinMs);
  }

  /** Requests each missing deal by its ticket, and reports those that the platform has deleted or changed. */
  async requestMissing(deps: Deps): Promise<void> {
    const confirmBeforeMs = performance.now() - CONFIRM_AFTER_MS;
    const due = [...this.#missing.values()].filter(({ missedAtMs }) => missedAtMs <= confirmBeforeMs);
    const requested = due.slice(0, REQUESTS_PER_RUN);
    const found: Amendment[] = [];
    for (const { logged } of requested) {
      const amendment = await amendmentOf(deps, logged);
      if (amendment !== undefined) found.push(amendment);
    }
    await reportAmendments(deps, await ofShownAccounts(deps, found));
    for (const { logged } of requested) this.#missing.delete(logged.ticket);
  }

  #forget(beforeMs: number): void {
    for (const [ticket, shownAtMs] of this.#shownAtMs) if (shownAtMs < beforeMs) this.#shownAtMs.delete(ticket);
  }
}

async function amendmentOf(
  { mt5, pool, settings }: Deps,
  { login, ticket, at }: UnshownDeal,
): Promise<Amendment | undefined> {
  const shown = await mt5.getDeal(ticket);
  // Undefined for a leg of a Master whose deal no read has shown yet.
  const recorded = await findLoggedDeal(pool, settings.server, login, ticket);
  // A ticket that was reused for another login is no longer this login's deal.
  if (shown === undefined || shown.login !== login) {
    return { login, ticket, at, recorded, shown, amendment: "deal_gone", differences: [] };
  }
  const differences = recorded === undefined ? [] : differencesOf(recorded, shown);
  if (differences.length === 0) return undefined;
  return { login, ticket, at, recorded, shown, amendment: "deal_changed", differences };
}

/** Leaves out accounts that the platform does not show any more: their deals are not deleted, only invisible. */
async function ofShownAccounts({ mt5, pool }: Deps, found: readonly Amendment[]): Promise<Amendment[]> {
  if (found.length === 0) return [];
  const logins = [...new Set(found.map(({ login }) => login))];
  const users = await mt5.getUsers(logins);
  for (const login of logins.filter((each) => !users.has(each))) {
    await inTransaction(pool, (tx) => reportFinding(tx, { login, reason: "account_not_shown", evidence: {} }));
  }
  return found.filter(({ login }) => users.has(login));
}
