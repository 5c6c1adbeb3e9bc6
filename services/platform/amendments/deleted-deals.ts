import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { shownWithinMs } from "../domain/next-scan.ts";
import type { Span } from "../reader/read-group.ts";
import type { SeenDeals } from "../reader/seen-deals.ts";
import { findLoggedDeal } from "../store/logged-deals.ts";
import {
  type DatedDeal,
  type DealOfLogin,
  listLoggedSince,
  listRecorded,
  listRecordedOf,
} from "../store/amendments.ts";
import { listEmpty } from "../store/unshown-accounts.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { differencesOf } from "./deal-difference.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";

/** A deal counts as deleted when a list lacked it and a request for its ticket, at least this much later, finds no deal. */
export const CONFIRM_AFTER_MS = 3_000;
/** Maximum requests of one run. When a server has lost a day of deals, the remaining deals wait for the next run. */
const REQUESTS_PER_RUN = 50;
/** A deal is in a read of all accounts, or missing from it, before it is as old as this. */
const LOGGED_BEFORE_MS = 20_000;
/** The clocks of the platform and of the database may differ by this much at the edge of a period. */
const EDGE_MS = 2_000;
/** The deals of a statement: some thousand at a busy time. Where there are fewer, the next statement has those of twice the time. */
const MIN_COMPARED_MS = 10_000;
const MAX_COMPARED_MS = 300_000;
const FEW_DEALS = 1_000;

/** The missing deals that one reader keeps in memory between its runs. A new reader starts empty and finds them again. */
export class DeletedDeals {
  readonly #missing = new Map<bigint, Missing>();
  readonly #seen: SeenDeals;

  constructor(seen: SeenDeals) {
    this.#seen = seen;
  }

  /** Deals that the history shows are not missing. */
  noteShown(deals: readonly DealOfLogin[]): void {
    if (this.#missing.size === 0) return;
    for (const { ticket, login } of deals) {
      if (this.#missing.get(ticket)?.logged.login === login) this.#missing.delete(ticket);
    }
  }

  /**
   * Notes as missing the recorded deals that a read of this time of all accounts, begun at `sinceMs` of the monotonic clock, did
   * not show. Of an hour with more deals than are remembered, the newest ones are compared.
   */
  async noteMissing(
    { pool, settings }: Deps,
    { fromMs, nowMs: toMs }: Pick<Span, "fromMs" | "nowMs">,
    sinceMs: number,
  ): Promise<void> {
    const lateFromMs = toMs - shownWithinMs(settings.quietPeriodMs);
    let lengthMs = MIN_COMPARED_MS;
    for (let atMs = Math.max(fromMs, this.#seen.fullToMs) + EDGE_MS; atMs < toMs;) {
      const period = { from: new Date(atMs), to: new Date(Math.min(atMs + lengthMs, toMs)) };
      const recorded = await listRecordedOf(pool, settings.server, period);
      for (const logged of recorded) {
        const wasShown = logged.serverMsc !== null || this.#seen.has(logged);
        if (!wasShown && logged.at.getTime() >= lateFromMs) continue;
        if (!this.#seen.isShownSince(logged, sinceMs)) this.#note(logged);
      }
      atMs += lengthMs;
      lengthMs = recorded.length < FEW_DEALS ? Math.min(2 * lengthMs, MAX_COMPARED_MS) : MIN_COMPARED_MS;
    }
  }

  /**
   * Notes as missing what a read of this time of all accounts, begun at `sinceMs` of the monotonic clock, did not show: deals that
   * earlier reads have shown, and new deals of the logs.
   */
  async noteVanished(
    { pool, settings }: Deps,
    { fromMs, nowMs: toMs }: Pick<Span, "fromMs" | "nowMs">,
    sinceMs: number,
  ): Promise<void> {
    const vanished = this.#seen.listUnshown({ fromMs: fromMs + EDGE_MS, toMs, sinceMs });
    const unclear = vanished.filter(({ isRecorded }) => !isRecorded);
    const recorded = await listRecorded(pool, settings.server, unclear);
    // Another read, perhaps of another process, has logged it before the platform lost it.
    const logged = await listLoggedSince(pool, settings.server, new Date(toMs - LOGGED_BEFORE_MS));
    const unseen = logged.filter((deal) => deal.at.getTime() < toMs && !this.#seen.has(deal));
    for (const deal of [...vanished.filter(({ isRecorded }) => isRecorded), ...recorded, ...unseen]) this.#note(deal);
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

  #note(logged: DatedDeal): void {
    // Should it reappear, it is looked up: its log may have been corrected by then.
    this.#seen.forget(logged);
    if (!this.#missing.has(logged.ticket)) this.#missing.set(logged.ticket, { logged, missedAtMs: performance.now() });
  }
}

type Missing = { readonly logged: DatedDeal; readonly missedAtMs: number };

/** Requests each deal that a list lacked by its ticket, and reports those that the platform has deleted or changed. */
export async function reportMissing(deps: Deps, missing: readonly DatedDeal[]): Promise<void> {
  const found: Amendment[] = [];
  for (const logged of missing) {
    const amendment = await amendmentOf(deps, logged).catch((error: unknown) => {
      // A deal that is not as documented: the read of its account has set that account aside.
      if (error instanceof Mt5Error && error.problem === "bad_answer") return undefined;
      throw error;
    });
    if (amendment !== undefined) found.push(amendment);
  }
  await reportAmendments(deps, await ofShownAccounts(deps, found));
}

async function amendmentOf(
  { mt5, pool, settings }: Deps,
  { login, ticket, at }: DatedDeal,
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

/** Leaves out accounts that the platform does not show any more: their deals are not deleted, only invisible. Those without money are no finding. */
async function ofShownAccounts({ mt5, pool }: Deps, found: readonly Amendment[]): Promise<Amendment[]> {
  if (found.length === 0) return [];
  const logins = [...new Set(found.map(({ login }) => login))];
  const users = await mt5.getUsers(logins);
  const unshown = logins.filter((login) => !users.has(login));
  const empty = await listEmpty(pool, unshown);
  for (const login of unshown.filter((each) => !empty.has(each))) {
    await inTransaction(pool, (tx) => reportFinding(tx, { login, reason: "account_not_shown", evidence: {} }));
  }
  return found.filter(({ login }) => users.has(login));
}
