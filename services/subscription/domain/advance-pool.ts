import { isCancelled, isCompensation, isResult, type MasterDeal, poolDealOf } from "./master-deal.ts";
import { accruedIn, changeUnits } from "./pool/accruals.ts";
import { allocateDeal } from "./pool/allocate-deal.ts";
import { checkPool } from "./pool/check-pool.ts";
import { poolEquity, floatingShares } from "./pool/equity.ts";
import { expectWhole } from "./pool/others.ts";
import { type Raised, raiseNegative } from "./pool/raise-negative.ts";
import { reissueUnits } from "./pool/run-flows.ts";
import { type Mark, strikeFlatPool } from "./pool/strike-pool.ts";
import { sumOf } from "./pool/rounding.ts";
import { allHoldings, withHoldings } from "./pool/units.ts";
import { nextCutOff, periodStart, type Week } from "./weeks.ts";
import { type E8, type Part, PoolBroken, type UnitHolding, type UnitPool } from "./pool/unit-pool.ts";
import { floatingBefore } from "./holding-value.ts";

/** A part of a waiting bucket: money on the Master that has no units yet; or an outflow of own capital whose units are not redeemed yet. */
export type Arrival = {
  readonly id: bigint;
  /** OWN_CAPITAL for own capital. */
  readonly subscriptionId: bigint;
  /** Log position of the Master after which it takes part in results, or no longer does. */
  readonly number: bigint;
  /** Highest ticket up to that log position. */
  readonly dealId: bigint;
  /** Cents; negative for an outflow. */
  readonly amount: bigint;
};

/** The state of a pool between two deals of its Master. */
export type PoolState = {
  readonly pool: UnitPool;
  /** The parts of the waiting buckets. */
  readonly arrivals: readonly Arrival[];
  /** Undefined while no subscription is ACTIVE: then no week is closed, and no deal waits for the end of a week. */
  readonly weeksClosedThrough: Date | undefined;
  /** Highest filed ticket at the last strike. */
  readonly struckDealId: bigint;
};

/** How the division of results up to a deal differs from that by the units of the books. In cents. */
export type Correction = {
  /** Log position of the last of these deals with a result: its parts are changed. */
  readonly number: bigint;
  /** Signed changes, by subscription; own capital gives them. */
  readonly changes: ReadonlyMap<bigint, bigint>;
  /** What of them was posted to Investors who are in no pool by the books: it settles flows that are still to be mirrored. */
  readonly elsewhere: bigint;
};

/** The open positions of the Master, read right after the last of its deals. */
export type Reading = {
  readonly at: Date;
  /** All open positions of the Master. */
  readonly marks: readonly Mark[];
  /** Weeks may be closed up to this cut-off. */
  readonly closeThrough: Date;
};

export type ResultEvent = {
  readonly kind: "result";
  readonly deal: MasterDeal;
  readonly parts: readonly Part[];
  /** Cents that go to own capital. */
  readonly own: bigint;
  /** What a compensation has raised holdings below zero by: no result, and not part of `parts`. */
  readonly raised: Pick<Raised, "raised" | "total">;
  /** What of a result of a lost time belongs to Investors who are in no pool by the books. */
  readonly elsewhere: bigint;
  /** Pool before the result, with the same units. */
  readonly before: UnitPool;
  /** Pool and its equity after the deal. */
  readonly pool: UnitPool;
  readonly equity: E8;
  /** The deal was received after its week was closed; it counts in the open week. */
  readonly isLate: boolean;
};

export type WeekEvent = {
  readonly kind: "week";
  readonly periodStart: Date;
  readonly cutOff: Date;
  readonly shares: ReadonlyMap<bigint, E8>;
  readonly pool: UnitPool;
  /** Undefined when the Master was flat. */
  readonly markedAt: Date | undefined;
};

/** A pool event: becomes one allocation entry. */
export type PoolEvent = ResultEvent | WeekEvent;

export type Advance = {
  readonly state: PoolState;
  readonly events: readonly PoolEvent[];
  /** Number of deals processed, including those without a result. */
  readonly taken: number;
  /** The error that stops the Master before the next deal: PoolBroken, or a programming fault. */
  readonly stopped: { readonly error: unknown } | undefined;
  /** "blocked": the next deal belongs to a week that has to be closed first. "full": more deals or weeks are due. */
  readonly end: "done" | "blocked" | "full" | "stopped";
};

export type Rules = {
  readonly week: Week;
  readonly reading: Reading | undefined;
  readonly maxEvents: number;
  /** False for a Master that may have open positions that the books do not contain. */
  readonly arePositionsKnown: boolean;
  /** Log position up to which operators have accepted deals that would otherwise stop the Master. */
  readonly acceptedDealsNumber: bigint;
  /** Later deals of positions that may be open; undefined when there are no deals after `deals`. */
  readonly beyond?: readonly MasterDeal[] | undefined;
  readonly correction?: Correction | undefined;
};

/**
 * Allocates the deals of a Master in their order and closes the weeks between them: a week as soon as all deals before
 * its cut-off are allocated, and only with a reading. Ends before a deal that contradicts the books; the caller then
 * stops the Master.
 */
export function advancePool(start: PoolState, deals: readonly MasterDeal[], rules: Rules): Advance {
  const events: PoolEvent[] = [];
  let current = start;
  let taken = 0;
  const ended = (end: Advance["end"], stopped?: Advance["stopped"]): Advance => {
    return { state: current, events, taken, stopped, end };
  };
  for (;;) {
    if (events.length >= rules.maxEvents) return ended("full");
    const deal = deals[taken];
    try {
      const through = latest(deal?.dealAt, rules.reading?.closeThrough);
      const cutOff = nextCutOff(rules.week, current.weeksClosedThrough, through);
      if (deal !== undefined && (cutOff === undefined || deal.dealAt < cutOff)) {
        if (rules.arePositionsKnown) current = admit(current, deal);
        const { pool, event } = correct(allocate(current, deal, rules.acceptedDealsNumber), rules.correction);
        current = { ...current, pool };
        taken += 1;
        if (isResult(deal)) events.push(event);
      } else if (deal === undefined && rules.beyond !== undefined) {
        return ended("full");
      } else if (cutOff !== undefined && rules.reading !== undefined && cutOff <= rules.reading.closeThrough) {
        const closed = closeWeek(current, rules.reading, [...deals.slice(taken), ...(rules.beyond ?? [])]);
        events.push({ kind: "week", periodStart: periodStart(rules.week, cutOff), cutOff, ...closed });
        current = { ...current, weeksClosedThrough: cutOff };
      } else return ended(deal === undefined ? "done" : "blocked");
    } catch (error) {
      return ended("stopped", { error });
    }
  }
}

/** The later of two instants, of which one may be missing. */
export function latest(left: Date | undefined, right: Date | undefined): Date | undefined {
  return left !== undefined && (right === undefined || left > right) ? left : right;
}

/**
 * Strikes the arrivals that are older than the next deal of a flat Master, so that they take part in that deal. A flat
 * Master has no floating result, so no marks are needed.
 */
function admit(state: PoolState, before: MasterDeal): PoolState {
  // An arrival takes no part in a deal with a lower ticket, even if that deal was logged later.
  const isDue = ({ number, dealId }: Arrival): boolean => number < before.number && dealId < before.dealId;
  const due = state.arrivals.filter(isDue);
  if (due.length === 0 || state.pool.positions.length > 0) return state;
  const inflows = new Map<bigint, bigint>();
  let { struckDealId } = state;
  let ownOutflow = 0n;
  for (const { subscriptionId, amount, dealId } of due) {
    if (dealId > struckDealId) struckDealId = dealId;
    if (amount < 0n) ownOutflow -= amount;
    else inflows.set(subscriptionId, (inflows.get(subscriptionId) ?? 0n) + amount);
  }
  const pool = strikeFlatPool(state.pool, { inflows, ownOutflow });
  checkPool(pool);
  return { ...state, pool, arrivals: state.arrivals.filter((arrival) => !isDue(arrival)), struckDealId };
}

function allocate(
  { pool, weeksClosedThrough, struckDealId }: PoolState,
  deal: MasterDeal,
  acceptedDealsNumber: bigint,
): ResultEvent {
  if (deal.number > acceptedDealsNumber) {
    if (isCancelled(deal)) throw new PoolBroken(`Deal ${deal.dealId} cancels an earlier deal.`);
    if (deal.dealId < struckDealId) throw new PoolBroken(`Deal ${deal.dealId} is older than the last strike.`);
  }
  const raised = raiseNegative(pool, isCompensation(deal) ? deal.amount : 0n);
  const allocation = allocateDeal(raised.pool, { ...poolDealOf(deal), result: deal.amount - raised.total });
  checkPool(allocation.pool);
  return {
    kind: "result",
    deal,
    ...allocation,
    raised,
    elsewhere: 0n,
    before: raised.pool,
    equity: poolEquity(allocation.pool),
    isLate: weeksClosedThrough !== undefined && deal.dealAt < weeksClosedThrough,
  };
}

/**
 * The event with the parts that were posted: these amounts are the division, so the parts follow from them, not from units. The pool after it
 * has units of what each holding has: those that the books had say nothing about shares that were others in between.
 */
function correct(event: ResultEvent, correction: Correction | undefined): { pool: UnitPool; event: ResultEvent } {
  const { deal, pool, parts, own } = event;
  if (correction?.number !== deal.number) return { pool, event };
  const { changes, elsewhere } = correction;
  const given = sumOf(changes.values()) + elsewhere;
  const amounts = new Map(parts.map(({ subscriptionId, amount }) => [subscriptionId, amount]));
  for (const [subscriptionId, change] of changes) {
    amounts.set(subscriptionId, (amounts.get(subscriptionId) ?? 0n) + change);
  }
  const changeOf = ({ subscriptionId }: UnitHolding): bigint => changes.get(subscriptionId) ?? 0n;
  const divided = withHoldings(pool, [
    ...pool.holdings.map((holding) => ({ ...holding, pooled: holding.pooled + changeOf(holding) })),
    { ...pool.own, pooled: pool.own.pooled - given },
  ]);
  const after = changeUnits(divided, reissueUnits(allHoldings(divided), accruedIn(divided)));
  checkPool(after);
  const corrected = [...amounts].map(([subscriptionId, amount]) => ({ subscriptionId, amount }));
  const equity = poolEquity(after);
  return { pool: after, event: { ...event, pool: divided, parts: corrected, own: own - given, elsewhere, equity } };
}

function closeWeek(
  { pool }: PoolState,
  { marks, at }: Reading,
  dealsSince: readonly MasterDeal[],
): Pick<WeekEvent, "shares" | "pool" | "markedAt"> {
  expectWhole(pool.holdings);
  const shares = floatingShares(pool, floatingBefore(pool, marks, dealsSince));
  return { shares, pool, markedAt: pool.positions.length === 0 ? undefined : at };
}
