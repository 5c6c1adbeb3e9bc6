import { hash } from "node:crypto";
import { SECOND_MS } from "#kernel/duration.ts";
import type { DealName, ShownDeal } from "../mt5/deal-batches.ts";
import type { Deal } from "../mt5/deals.ts";
import type { DatedDeal, DealOfLogin } from "../store/amendments.ts";

/** There are many, so each has only what cannot be derived: the ticket and the login are in its key. */
type Seen = {
  readonly key: string;
  readonly atMs: number;
  /** Of the row that showed it last. */
  mark: string;
  /** The log, or the adoption of the account, has the deal with this content. */
  isRecorded: boolean;
  shownAtMs: number;
};

/** A deal that was shown before and is not any more; `isRecorded` when it was shown again after it was recorded. */
type VanishedDeal = DatedDeal & { readonly isRecorded: boolean };

/** The deals of an hour with 28 in each second; about 25 MB. */
const MAX_SEEN = 100_000;
const FORGET_EVERY_MS = 10 * SECOND_MS;

/**
 * Deals that the platform has shown to this reader, so that a deal that is shown again and again is read and looked up only
 * until it is recorded. A deal that was forgotten, because there were too many, is looked up whenever it is shown.
 */
export class SeenDeals {
  /** By ticket and login: a server that lost its last deals assigns their tickets again, possibly on another login. */
  readonly #seen = new Map<string, Seen>();
  readonly #byMark = new Map<string, Seen>();
  #fullToMs = -Infinity;
  #forgottenToMs = -Infinity;

  /** Deals up to this time are not remembered: a read of more deals than fit would replace each one before it is shown again. */
  get fullToMs(): number {
    return this.#fullToMs;
  }

  /** The recorded deal of a row that is the same in every byte as when the deal was shown last. */
  recall(mark: string): DealName | undefined {
    const known = this.#byMark.get(mark);
    return known?.isRecorded === true ? nameOf(known) : undefined;
  }

  /** Notes that a read has shown deals that were recalled. */
  noteShownAgain(deals: readonly DealName[]): void {
    const shownAtMs = performance.now();
    for (const deal of deals) {
      const known = this.#seen.get(keyOf(deal));
      if (known !== undefined) known.shownAtMs = shownAtMs;
    }
  }

  /** Notes deals of a read, and returns those that have to be looked up: new, changed, or not recorded yet. */
  noteShown(deals: readonly ShownDeal[]): readonly ShownDeal[] {
    const shownAtMs = performance.now();
    return deals.filter((deal) => {
      const key = keyOf(deal);
      const mark = markOf(deal);
      const known = this.#seen.get(key);
      if (known?.mark === mark) {
        known.shownAtMs = shownAtMs;
        return !known.isRecorded;
      }
      if (known !== undefined) this.#forget(known);
      const atMs = deal.at.getTime();
      if (atMs <= this.#fullToMs) return true;
      const seen: Seen = { key, atMs, mark, isRecorded: false, shownAtMs };
      this.#seen.set(key, seen);
      this.#byMark.set(mark, seen);
      if (this.#seen.size > MAX_SEEN) this.#forgetFirst();
      return true;
    });
  }

  #forget({ key, mark }: Seen): void {
    this.#seen.delete(key);
    this.#byMark.delete(mark);
  }

  /** Notes that these deals are recorded exactly as they were shown. */
  noteRecorded(deals: readonly ShownDeal[]): void {
    for (const deal of deals) {
      const known = this.#seen.get(keyOf(deal));
      if (known?.mark === markOf(deal)) known.isRecorded = true;
    }
  }

  has(deal: DealOfLogin): boolean {
    return this.#seen.has(keyOf(deal));
  }

  /** Whether the deal was shown at or after `sinceMs` of the monotonic clock. */
  isShownSince(deal: DealOfLogin, sinceMs: number): boolean {
    return (this.#seen.get(keyOf(deal))?.shownAtMs ?? -Infinity) >= sinceMs;
  }

  /** Deals from `fromMs` to `toMs` that were shown, and not at or after `sinceMs` of the monotonic clock. */
  listUnshown(period: { readonly fromMs: number; readonly toMs: number; readonly sinceMs: number }): VanishedDeal[] {
    const { fromMs, toMs, sinceMs } = period;
    const unshown: VanishedDeal[] = [];
    for (const seen of this.#seen.values()) {
      const { atMs, isRecorded, shownAtMs } = seen;
      if (shownAtMs < sinceMs && atMs >= fromMs && atMs < toMs) {
        unshown.push({ ...nameOf(seen), at: new Date(atMs), isRecorded });
      }
    }
    return unshown;
  }

  forget(deal: DealOfLogin): void {
    const known = this.#seen.get(keyOf(deal));
    if (known !== undefined) this.#forget(known);
  }

  /** Forgets deals that no read will show again, because all reads begin later. */
  forgetBefore(ms: number): void {
    if (ms - this.#forgottenToMs < FORGET_EVERY_MS) return;
    this.#forgottenToMs = ms;
    for (const seen of this.#seen.values()) if (seen.atMs < ms) this.#forget(seen);
  }

  #forgetFirst(): void {
    const [first] = this.#seen.values();
    if (first === undefined) return;
    this.#forget(first);
    this.#fullToMs = Math.max(this.#fullToMs, first.atMs);
  }
}

function keyOf({ ticket, login }: DealOfLogin): string {
  return `${ticket} ${login}`;
}

function nameOf({ key }: Seen): DealName {
  const [ticket = "", login = ""] = key.split(" ");
  return { ticket: BigInt(ticket), login };
}

/** Of the row, or, of a deal that was read without one, of its content. */
function markOf(deal: ShownDeal): string {
  return deal.mark ?? hash("sha256", contentOf(deal), "base64");
}

/** The comment is left out: it decides nothing once a deal is recorded. */
function contentOf({ ticket, login, ...deal }: Deal): string {
  const { action, entry, position, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const { profitMinor, swapMinor, commissionMinor, feeMinor } = deal;
  const trade = [action, entry, position, symbol, volume, volumeClosed].join("|");
  return [ticket, login, serverTimeMs, trade, profitMinor, swapMinor, commissionMinor, feeMinor].join("|");
}
