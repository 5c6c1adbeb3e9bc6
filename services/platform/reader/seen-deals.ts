import type { Deal } from "../mt5/deals.ts";
import type { DealOfLogin } from "../store/amendments.ts";

type Seen = DealOfLogin & {
  readonly atMs: number;
  /** Everything that a log entry has of a deal, as text. */
  readonly content: string;
  /** The log, or the adoption of the account, has the deal with this content. */
  isRecorded: boolean;
  shownAtMs: number;
};

/** A few times the deals of a busy hour; about 60 MB. */
const MAX_SEEN = 200_000;

/**
 * Deals that the platform has shown to this reader, so that a deal that is read again and again is looked up only until it
 * is recorded. A deal that was forgotten, because there were too many, is looked up once more.
 */
export class SeenDeals {
  /** By ticket and login: a server that lost its last deals assigns their tickets again, possibly on another login. */
  readonly #seen = new Map<string, Seen>();

  /** Notes deals of a read, and returns those that have to be looked up: new, changed, or not recorded yet. */
  noteShown(deals: readonly Deal[]): readonly Deal[] {
    const shownAtMs = performance.now();
    return deals.filter((deal) => {
      const content = contentOf(deal);
      const key = keyOf(deal);
      const known = this.#seen.get(key);
      if (known?.content === content) {
        known.shownAtMs = shownAtMs;
        return !known.isRecorded;
      }
      const { login, ticket } = deal;
      this.#seen.delete(key);
      this.#seen.set(key, { login, ticket, atMs: deal.at.getTime(), content, isRecorded: false, shownAtMs });
      if (this.#seen.size > MAX_SEEN) this.#forgetFirst();
      return true;
    });
  }

  /** Notes that these deals are recorded exactly as they were shown. */
  noteRecorded(deals: readonly Deal[]): void {
    for (const deal of deals) {
      const known = this.#seen.get(keyOf(deal));
      if (known?.content === contentOf(deal)) known.isRecorded = true;
    }
  }

  has(deal: DealOfLogin): boolean {
    return this.#seen.has(keyOf(deal));
  }

  /** Whether the deal was shown at or after `sinceMs` of the monotonic clock. */
  isShownSince(deal: DealOfLogin, sinceMs: number): boolean {
    return (this.#seen.get(keyOf(deal))?.shownAtMs ?? -Infinity) >= sinceMs;
  }

  forget(deal: DealOfLogin): void {
    this.#seen.delete(keyOf(deal));
  }

  /** Forgets deals that no read will show again, because all reads begin later. */
  forgetBefore(ms: number): void {
    for (const [key, { atMs }] of this.#seen) if (atMs < ms) this.#seen.delete(key);
  }

  #forgetFirst(): void {
    const [first] = this.#seen.keys();
    if (first !== undefined) this.#seen.delete(first);
  }
}

function keyOf({ ticket, login }: DealOfLogin): string {
  return `${ticket} ${login}`;
}

/** The comment is left out: it decides nothing once a deal is recorded. */
function contentOf(deal: Deal): string {
  const { action, entry, position, symbol, volume, volumeClosed, serverTimeMs } = deal;
  const { profitMinor, swapMinor, commissionMinor, feeMinor } = deal;
  const trade = [action, entry, position, symbol, volume, volumeClosed].join("|");
  return [serverTimeMs, trade, profitMinor, swapMinor, commissionMinor, feeMinor].join("|");
}
