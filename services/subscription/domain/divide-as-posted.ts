import { advancePool, type Correction, latest, type PoolState, type ResultEvent, type Rules } from "./advance-pool.ts";
import { isResult, type MasterDeal } from "./master-deal.ts";
import { nextCutOff, type Week } from "./weeks.ts";
import { sumOf } from "./pool/rounding.ts";
import { allHoldings, totalUnits } from "./pool/units.ts";

/** A posting that the books had lost, in cents. */
export type LostResult = { readonly amount: bigint; readonly at: Date };

export type PostedInvestor = {
  readonly subscriptionId: bigint;
  /** Allocated and not posted, less all that was posted; signed. */
  readonly unposted: bigint;
  /** In the order of their times. */
  readonly lost: readonly LostResult[];
};

export type Posted = {
  /** Those in the pool by the books. */
  readonly investors: readonly PostedInvestor[];
  /** What was posted to Investors who are in no pool by the books, and belongs to no other Master. */
  readonly elsewhere: bigint;
};

/** How results are allocated as they were posted. */
export type AsPosted = Pick<Correction, "number" | "changes"> & {
  /** What own capital gets beside what its units explain. */
  readonly unexplained: bigint;
};

/** "by_units": units divide them so. "no_result": no deal has the money that was posted. */
export type Division = AsPosted | "by_units" | "no_result";

/** Results of one step: their pools are in memory together. */
const DEALS_PER_STEP = 50;

/**
 * The units of the books may be others than those by which results were divided, because an assign, a deposit or an unassign was lost with them. What
 * was posted is the division, to the cent. Where the units of the books divide in the same way, they decide: then a posting that a crash has
 * prevented follows.
 */
export function divideAsPosted(
  start: PoolState,
  deals: readonly MasterDeal[],
  posted: Posted,
  rules: Pick<Rules, "week" | "arePositionsKnown" | "acceptedDealsNumber">,
): Division {
  const covered = coveredBy(start, deals, posted);
  const shares = new Shares(start, posted.investors);
  // Weeks change no pool.
  let state: PoolState = { ...start, weeksClosedThrough: undefined };
  let division: Division = shares.hasLost ? "no_result" : "by_units";
  for (let next = 0; next < deals.length && !shares.areAllPosted; next += DEALS_PER_STEP) {
    const step = deals.slice(next, next + DEALS_PER_STEP);
    const advance = advancePool(state, step, { ...rules, reading: undefined, maxEvents: Number.POSITIVE_INFINITY });
    for (const event of advance.events) {
      if (event.kind !== "result") continue;
      shares.add(event);
      if (event.deal.number === covered) division = shares.asPosted(event);
    }
    // The deal stops the Master when it is allocated.
    if (advance.stopped !== undefined) break;
    state = advance.state;
  }
  return shares.areAllPosted ? "by_units" : division;
}

/**
 * The last deal with a result that the postings cover: all of them together are these deals. When no deals are, because own capital has had a part
 * or a posting is missing, those before the last posting.
 */
function coveredBy(
  { pool }: PoolState,
  deals: readonly MasterDeal[],
  { investors, elsewhere }: Posted,
): bigint | undefined {
  const lost = investors.filter((each) => each.lost.length > 0);
  const last = lost.flatMap((each) => each.lost).reduce((at, each) => Math.max(at, each.at.getTime()), 0);
  const given = -sumOf(lost.map(({ unposted }) => unposted));
  let total = 0n;
  let byTime: bigint | undefined;
  let byAmount: bigint | undefined;
  for (const { number, amount, dealAt } of deals.filter(isResult)) {
    total += amount;
    const isBefore = dealAt.getTime() <= last;
    const isWhole = total === given + elsewhere || (total === given && lost.length > 0);
    if (isBefore || byTime === undefined) byTime = number;
    if (isWhole && (isBefore || byAmount === undefined)) byAmount = number;
  }
  // Of a Master without an Investor by the books only the amount says that its results were posted.
  if (lost.length === 0) return elsewhere !== 0n && totalUnits(allHoldings(pool)) === 0n ? byAmount : undefined;
  return (pool.own.units === 0n ? byAmount : undefined) ?? byTime;
}

/** What units give each Investor, deal by deal. */
class Shares {
  readonly #unposted: Map<bigint, bigint>;
  readonly #lost: ReadonlySet<bigint>;
  readonly #given = new Map<bigint, bigint>();
  readonly #posted = new Set<bigint>();
  readonly #hasOwnUnits: boolean;
  #own = 0n;

  constructor({ pool }: PoolState, investors: readonly PostedInvestor[]) {
    this.#unposted = new Map(investors.map(({ subscriptionId, unposted }) => [subscriptionId, unposted]));
    this.#lost = new Set(investors.filter(({ lost }) => lost.length > 0).map(({ subscriptionId }) => subscriptionId));
    this.#hasOwnUnits = pool.own.units > 0n;
    this.#note(pool);
  }

  get hasLost(): boolean {
    return this.#lost.size > 0;
  }

  get areAllPosted(): boolean {
    return this.hasLost && this.#posted.size === this.#lost.size;
  }

  add({ parts, raised, own, pool }: ResultEvent): void {
    this.#own += own;
    for (const { subscriptionId, amount } of [...parts, ...raised.raised]) {
      this.#given.set(subscriptionId, (this.#given.get(subscriptionId) ?? 0n) + amount);
    }
    this.#note(pool);
  }

  /** Some postings are those that units make up to here. */
  #note({ holdings }: ResultEvent["pool"]): void {
    for (const holding of holdings) {
      if (this.#lost.has(holding.subscriptionId) && this.#openOf(holding) === 0n) {
        this.#posted.add(holding.subscriptionId);
      }
    }
  }

  /** What would be posted now: a loss that no money in the pool covers is not. */
  #openOf({ subscriptionId, pooled, unredeemed }: ResultEvent["pool"]["holdings"][number]): bigint {
    const unposted = this.#unpostedOf(subscriptionId);
    const uncovered = unredeemed === 0n && pooled < 0n ? -pooled : 0n;
    return unposted < 0n && uncovered > 0n ? unposted + uncovered : unposted;
  }

  #unpostedOf(subscriptionId: bigint): bigint {
    return (this.#unposted.get(subscriptionId) ?? 0n) + (this.#given.get(subscriptionId) ?? 0n);
  }

  asPosted({ deal, pool }: ResultEvent): AsPosted {
    const changes = new Map(
      pool.holdings
        .map((holding): [bigint, bigint] => [holding.subscriptionId, this.#changeOf(holding)])
        .filter(([, change]) => change !== 0n),
    );
    const given = sumOf(changes.values());
    return { number: deal.number, changes, unexplained: this.#hasOwnUnits ? -given : this.#own - given };
  }

  /** Who has no posting by then was in the pool no longer. */
  #changeOf(holding: ResultEvent["pool"]["holdings"][number]): bigint {
    const { subscriptionId } = holding;
    if (this.#openOf(holding) === 0n) return 0n;
    if (this.#lost.has(subscriptionId)) return -this.#unpostedOf(subscriptionId);
    return -(this.#given.get(subscriptionId) ?? 0n);
  }
}

/** Deals before a cut-off, and what was posted of them. */
export type WeekOfDeals = {
  readonly deals: readonly MasterDeal[];
  readonly investors: readonly PostedInvestor[];
  /** The time of the first posting that is not of them; undefined when all are. */
  readonly before: Date | undefined;
  /** The week has to be closed before the next deal. */
  readonly isEnded: boolean;
};

/** A fee is decided as of a cut-off, so what was posted is divided there too. */
export function firstWeek(
  state: PoolState,
  deals: readonly MasterDeal[],
  investors: readonly PostedInvestor[],
  week: Week,
): WeekOfDeals {
  const newest = deals.reduce<Date | undefined>((at, { dealAt }) => latest(at, dealAt), undefined);
  const cutOff = nextCutOff(week, state.weeksClosedThrough, newest);
  const end = cutOff === undefined ? -1 : deals.findIndex(({ dealAt }) => dealAt >= cutOff);
  if (cutOff === undefined || end === -1) return { deals, investors, before: undefined, isEnded: false };
  const ended = deals.slice(0, end);
  const before = firstAfter(investors, sumOf(ended.map(({ amount }) => amount)), cutOff);
  return { deals: ended, investors: investors.map((each) => postedBefore(each, before)), before, isEnded: true };
}

/**
 * Postings follow their deals by moments: the time of the first posting that is not of these results. Of the times before which the postings are these
 * results it is the one nearest to the cut-off.
 */
function firstAfter(investors: readonly PostedInvestor[], results: bigint, cutOff: Date): Date | undefined {
  const isWhole = (before: Date | undefined): boolean => {
    const posted = investors.map((each) => postedBefore(each, before)).filter(({ lost }) => lost.length > 0);
    return -sumOf(posted.map(({ unposted }) => unposted)) === results;
  };
  const distance = (at: Date): number => Math.abs(at.getTime() - cutOff.getTime());
  const times = [cutOff, ...investors.flatMap(({ lost }) => lost.map(({ at }) => at))].filter(isWhole);
  const [first = cutOff, ...others] = times;
  if (times.length === 0 && isWhole(undefined)) return undefined;
  return others.reduce((nearest, at) => (distance(at) < distance(nearest) ? at : nearest), first);
}

function postedBefore(investor: PostedInvestor, before: Date | undefined): PostedInvestor {
  if (before === undefined) return investor;
  const lost = investor.lost.filter(({ at }) => at < before);
  const later = investor.lost.filter(({ at }) => at >= before);
  return { ...investor, lost, unposted: investor.unposted + sumOf(later.map(({ amount }) => amount)) };
}
