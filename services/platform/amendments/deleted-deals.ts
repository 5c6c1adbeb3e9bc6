import { setTimeout as delay } from "node:timers/promises";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { shownWithinMs } from "../domain/next-scan.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";
import { fileHistory } from "../protocol/history/read-history.ts";
import { findAccount } from "../store/accounts.ts";
import {
  type DatedDeal,
  type DealOfLogin,
  listRecordedOf,
  listUnshownOfLogin,
  type Window,
} from "../store/amendments.ts";
import { readClock } from "../store/clock.ts";
import { listEmpty } from "../store/unshown-accounts.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { reportChanged, type SeenDeal } from "./compare-history.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";

/** A deal counts as deleted when a list lacked it and a request for its ticket, at least this much later, finds no deal. */
export const CONFIRM_AFTER_MS = 3_000;
/** Maximum requests of one run. When a server has lost a day of deals, the remaining deals wait for the next run. */
const REQUESTS_PER_RUN = 50;
/** The missing deals that one reader keeps in memory between its runs. A new reader starts empty and finds them again. */
export class DeletedDeals {
  readonly #missing = new Map<bigint, Missing>();
  #shownLast = new ShownDeals();

  /** Deals that the history shows are not missing. */
  noteShown(deals: readonly DealOfLogin[]): void {
    if (this.#missing.size === 0) return;
    for (const { ticket, login } of deals) {
      if (this.#missing.get(ticket)?.logged.login === login) this.#missing.delete(ticket);
    }
  }

  /**
   * Notes as missing the recorded deals of a period that a read of all accounts, begun at `nowMs`, did not show. A deal that is known
   * by an answer only may appear later, unless the read before has shown it.
   */
  async noteMissing(
    { pool, settings }: Deps,
    { nowMs, ...period }: Window & { readonly nowMs: number },
    shown: ShownDeals,
  ): Promise<void> {
    const lateFromMs = nowMs - shownWithinMs(settings.quietPeriodMs);
    for (const logged of await listRecordedOf(pool, settings.server, period)) {
      const wasShown = logged.serverMsc !== null || this.#shownLast.has(logged);
      if (shown.has(logged) || (!wasShown && logged.at.getTime() >= lateFromMs)) continue;
      if (!this.#missing.has(logged.ticket)) {
        this.#missing.set(logged.ticket, { logged, missedAtMs: performance.now() });
      }
    }
    this.#shownLast = shown;
  }

  /** Requests each missing deal by its ticket, and reports those that the platform has deleted or changed. */
  async requestMissing(deps: Deps): Promise<void> {
    const confirmBeforeMs = performance.now() - CONFIRM_AFTER_MS;
    const due = [...this.#missing.values()].filter(({ missedAtMs }) => missedAtMs <= confirmBeforeMs);
    const requested = due.slice(0, REQUESTS_PER_RUN);
    await reportMissing(
      deps,
      requested.map(({ logged }) => logged),
    );
    for (const { logged } of requested) this.#missing.delete(logged.ticket);
  }
}

/** What one read has shown. */
export class ShownDeals {
  readonly #names = new Set<string>();

  add(deals: readonly DealOfLogin[]): void {
    for (const deal of deals) this.#names.add(nameOf(deal));
  }

  has(deal: DealOfLogin): boolean {
    return this.#names.has(nameOf(deal));
  }
}

/** A server that lost its last deals assigns their tickets again, possibly on another login. */
function nameOf({ ticket, login }: DealOfLogin): string {
  return `${ticket} ${login}`;
}

type Missing = { readonly logged: DatedDeal; readonly missedAtMs: number };

/** Requests each deal that a list lacked by its ticket, and reports those that the platform has deleted or changed. */
export async function reportMissing(deps: Deps, missing: readonly DatedDeal[]): Promise<void> {
  const seen: SeenDeal[] = [];
  for (const { login, ticket, at } of missing) {
    try {
      seen.push({ login, ticket, at, shown: await deps.mt5.getDeal(ticket) });
    } catch (error) {
      // A deal that is not as documented: the read of its account has set that account aside.
      if (!(error instanceof Mt5Error && error.problem === "bad_answer")) throw error;
    }
  }
  // A ticket that was reused for another login is no longer this login's deal.
  const gone = seen.filter(({ login, shown }) => shown?.login !== login);
  const away = await listUnshown(deps, [...new Set(gone.map(({ login }) => login))]);
  await reportChanged(
    deps,
    seen.filter(({ login }) => !away.has(login)),
  );
}

/**
 * Accounts that the platform does not show any more: their deals are not deleted, only invisible. Those without money are no finding. One
 * whose record cannot be read is shown.
 */
async function listUnshown({ mt5, pool }: Deps, logins: readonly string[]): Promise<ReadonlySet<string>> {
  if (logins.length === 0) return new Set();
  const { users, unreadable } = await mt5.readUsers(logins);
  const unshown = logins.filter((login) => !users.has(login) && !unreadable.has(login));
  const empty = await listEmpty(pool, unshown);
  for (const login of unshown.filter((each) => !empty.has(each))) {
    await inTransaction(pool, (tx) => reportFinding(tx, { login, reason: "account_not_shown", evidence: {} }));
  }
  return new Set(unshown);
}

/**
 * Reads the whole history of a login whose log is not its balance: files what no log has, such as a deal that was dated back or first
 * shown late, and reports deals of the log that were amended or deleted.
 */
export async function readWholeLogin(deps: Deps, login: string): Promise<void> {
  const { pool, mt5, settings } = deps;
  const account = await findAccount(pool, login);
  if (account === undefined) return;
  const { readsFrom: from } = account;
  const nowMs = await readClock(pool);
  const shown = await mt5.readDeals(login, { from, to: new Date(nowMs + CLOCK_WINDOW_MS) });
  await fileHistory(deps, shown, { since: from, from, isWhole: true }, [login]);
  const missing = await listUnshownOfLogin(pool, settings.server, login, {
    before: new Date(nowMs - shownWithinMs(settings.quietPeriodMs)),
    shown: shown.map(({ ticket }) => ticket),
    limit: REQUESTS_PER_RUN,
  });
  if (missing.length === 0) return;
  await delay(CONFIRM_AFTER_MS);
  await reportMissing(deps, missing);
}
