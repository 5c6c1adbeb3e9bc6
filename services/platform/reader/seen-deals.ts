import { hash } from "node:crypto";
import { SECOND_MS } from "#kernel/duration.ts";
import type { DealName, ShownDeal } from "../mt5/deal-batches.ts";
import type { Deal } from "../mt5/deals.ts";
import type { DatedDeal, DealOfLogin } from "../store/amendments.ts";
import { DealTable } from "./deal-table.ts";

/** A deal that was shown before and is not any more; `isRecorded` when it was shown again after it was recorded. */
type VanishedDeal = DatedDeal & { readonly isRecorded: boolean };

/** The deals of an hour with 72 in each second; about 21 MB. */
export const MAX_SEEN = 262_144;
const FORGET_EVERY_MS = 10 * SECOND_MS;

/**
 * Deals that the platform has shown to this reader, so that a deal that is shown again and again is read and looked up only
 * until it is recorded. A deal that was forgotten, because there were too many, is looked up whenever it is shown.
 */
export class SeenDeals {
  readonly #seen = new DealTable(MAX_SEEN);
  #fullToMs = -Infinity;
  #forgottenToMs = -Infinity;

  /** Deals up to this time are not remembered: a read of more deals than fit would replace each one before it is shown again. */
  get fullToMs(): number {
    return this.#fullToMs;
  }

  /** The recorded deal of a row that is the same in every byte as when the deal was shown last. */
  recall(mark: string): DealName | undefined {
    const slot = this.#seen.findMarked(mark);
    return slot !== undefined && this.#seen.isRecorded[slot] === 1 ? this.#seen.nameOf(slot) : undefined;
  }

  /** Notes that a read has shown deals that were recalled. */
  noteShownAgain(deals: readonly DealName[]): void {
    const shownAtMs = performance.now();
    for (const deal of deals) {
      const slot = this.#seen.find(deal);
      if (slot !== undefined) this.#seen.shownAtMs[slot] = shownAtMs;
    }
  }

  /** Notes deals of a read, and returns those that have to be looked up: new, changed, or not recorded yet. */
  noteShown(deals: readonly ShownDeal[]): readonly ShownDeal[] {
    const shownAtMs = performance.now();
    return deals.filter((deal) => {
      const mark = markOf(deal);
      const known = this.#seen.find(deal);
      if (known !== undefined && this.#seen.hasMark(known, mark)) {
        this.#seen.shownAtMs[known] = shownAtMs;
        return this.#seen.isRecorded[known] === 0;
      }
      if (known !== undefined) this.#seen.remove(known);
      this.#remember(deal, mark, shownAtMs);
      return true;
    });
  }

  #remember(deal: ShownDeal, mark: string, shownAtMs: number): void {
    const atMs = deal.at.getTime();
    if (atMs <= this.#fullToMs) return;
    const { oldest } = this.#seen;
    if (oldest !== undefined) {
      this.#fullToMs = Math.max(this.#fullToMs, this.#seen.atMs[oldest] ?? 0);
      this.#seen.remove(oldest);
    }
    const slot = this.#seen.add(deal, mark);
    this.#seen.atMs[slot] = atMs;
    this.#seen.shownAtMs[slot] = shownAtMs;
    this.#seen.isRecorded[slot] = 0;
  }

  /** Notes that these deals are recorded exactly as they were shown. */
  noteRecorded(deals: readonly ShownDeal[]): void {
    for (const deal of deals) {
      const slot = this.#seen.find(deal);
      if (slot !== undefined && this.#seen.hasMark(slot, markOf(deal))) this.#seen.isRecorded[slot] = 1;
    }
  }

  has(deal: DealOfLogin): boolean {
    return this.#seen.find(deal) !== undefined;
  }

  /** Whether the deal was shown at or after `sinceMs` of the monotonic clock. */
  isShownSince(deal: DealOfLogin, sinceMs: number): boolean {
    const slot = this.#seen.find(deal);
    return slot !== undefined && (this.#seen.shownAtMs[slot] ?? 0) >= sinceMs;
  }

  /** Deals from `fromMs` to `toMs` that were shown, and not at or after `sinceMs` of the monotonic clock. */
  listUnshown(period: { readonly fromMs: number; readonly toMs: number; readonly sinceMs: number }): VanishedDeal[] {
    const { fromMs, toMs, sinceMs } = period;
    const unshown: VanishedDeal[] = [];
    for (const slot of this.#seen.used()) {
      const atMs = this.#seen.atMs[slot] ?? 0;
      if (atMs < fromMs || atMs >= toMs || (this.#seen.shownAtMs[slot] ?? 0) >= sinceMs) continue;
      unshown.push({ ...this.#seen.nameOf(slot), at: new Date(atMs), isRecorded: this.#seen.isRecorded[slot] === 1 });
    }
    return unshown;
  }

  forget(deal: DealOfLogin): void {
    const slot = this.#seen.find(deal);
    if (slot !== undefined) this.#seen.remove(slot);
  }

  /** Forgets deals that no read will show again, because all reads begin later. */
  forgetBefore(ms: number): void {
    if (ms - this.#forgottenToMs < FORGET_EVERY_MS) return;
    this.#forgottenToMs = ms;
    for (const slot of this.#seen.used()) if ((this.#seen.atMs[slot] ?? 0) < ms) this.#seen.remove(slot);
  }
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
