import type { Deal } from "../mt5/deals.ts";

/**
 * The latest deals that a log has as the platform shows them. While they are shown unchanged they are not compared again in each run; that
 * their log or leg has changed since is found by the runs that compare all.
 */
export class ComparedDeals {
  readonly #deals = new Map<bigint, Deal>();

  /** The deals that are not among them, or are shown otherwise. */
  othersOf(deals: readonly Deal[]): readonly Deal[] {
    return deals.filter((deal) => !isSame(this.#deals.get(deal.ticket), deal));
  }

  add(deals: readonly Deal[]): void {
    for (const deal of deals) this.#deals.set(deal.ticket, deal);
  }

  /** Bounds the memory to the deals of the period that the frequent runs read. */
  forgetBefore(instantMs: number): void {
    for (const { ticket, at } of this.#deals.values()) if (at.getTime() < instantMs) this.#deals.delete(ticket);
  }
}

/** `at` follows from the time of the server and from what is known of its clock. */
function isSame(known: Deal | undefined, { at: _at, ...shown }: Deal): boolean {
  return known !== undefined && Object.entries(shown).every(([name, value]) => known[name as keyof Deal] === value);
}
