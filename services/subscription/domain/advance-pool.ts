import { type Arrival, strikeArrivals } from "./arrival.ts";
import { isCancelled, isCompensation, isResult, type MasterDeal, poolDealOf } from "./master-deal.ts";
import { type Allocation, allocateDeal } from "./pool/allocate-deal.ts";
import { checkPool } from "./pool/check-pool.ts";
import { poolEquity } from "./pool/equity.ts";
import { floatingShares } from "./pool/floating-shares.ts";
import { expectWhole } from "./pool/others.ts";
import { type Raised, raiseNegative } from "./pool/raise-negative.ts";
import type { Mark } from "./pool/strike-pool.ts";
import { cutOffsDue, periodStart, type Week } from "./weeks.ts";
import { type E8, PoolBroken, type UnitPool } from "./pool/unit-pool.ts";
import { floatingBefore } from "./holding-value.ts";
import { type Correction, correctPool } from "./correct-pool.ts";

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
  readonly parts: Allocation["parts"];
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
  const ended = (end: Advance["end"], stopped?: Advance["stopped"]): Advance => ({
    state: current,
    events,
    taken,
    stopped,
    end,
  });
  for (;;) {
    if (events.length >= rules.maxEvents) return ended("full");
    const deal = deals[taken];
    try {
      const cutOff = nextCutOff(current, rules.week, latest(deal?.dealAt, rules.reading?.closeThrough));
      if (deal !== undefined && (cutOff === undefined || deal.dealAt < cutOff)) {
        if (rules.arePositionsKnown) current = admit(current, deal);
        const { pool, event } = correct(allocate(current, deal, rules.acceptedDealsNumber), rules.correction);
        current = { ...current, pool };
        taken += 1;
        if (isResult(deal)) events.push(event);
      } else if (deal === undefined && rules.beyond !== undefined) {
        return ended("full");
      } else if (cutOff !== undefined && rules.reading !== undefined && cutOff <= rules.reading.closeThrough) {
        const dealsSince = [...deals.slice(taken), ...(rules.beyond ?? [])];
        events.push(closeWeek(current, { cutOff, dealsSince, reading: rules.reading }, rules.week));
        current = { ...current, weeksClosedThrough: cutOff };
      } else return ended(deal === undefined ? "done" : "blocked");
    } catch (error) {
      return ended("stopped", { error });
    }
  }
}

/** The next cut-off that is not closed, if it is not after `through`. */
export function nextCutOff(
  { weeksClosedThrough }: Pick<PoolState, "weeksClosedThrough">,
  week: Week,
  through: Date | undefined,
): Date | undefined {
  if (weeksClosedThrough === undefined || through === undefined) return undefined;
  return cutOffsDue(week, weeksClosedThrough, through, 1)[0];
}

/** The later of two instants, of which one may be missing. */
export function latest(left: Date | undefined, right: Date | undefined): Date | undefined {
  return left !== undefined && (right === undefined || left > right) ? left : right;
}

/** Issues units to arrivals that are older than the deal, if the Master is flat. */
function admit(state: PoolState, deal: MasterDeal): PoolState {
  const arrived = strikeArrivals(state.pool, state.arrivals, deal);
  if (arrived === undefined) return state;
  const { pool, arrivals, dealId } = arrived;
  const struckDealId = dealId > state.struckDealId ? dealId : state.struckDealId;
  return { ...state, pool, arrivals, struckDealId };
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

/** The event with the parts that were posted, and the pool after it with units of what each holding has then. */
function correct(event: ResultEvent, correction: Correction | undefined): { pool: UnitPool; event: ResultEvent } {
  const { deal, pool } = event;
  if (correction?.number !== deal.number) return { pool, event };
  const corrected = correctPool(event, correction);
  checkPool(corrected.after);
  const { elsewhere } = correction;
  const equity = poolEquity(corrected.after);
  return { pool: corrected.after, event: { ...event, ...corrected.allocation, elsewhere, equity } };
}

type Closing = { readonly cutOff: Date; readonly dealsSince: readonly MasterDeal[]; readonly reading: Reading };

function closeWeek({ pool }: PoolState, { cutOff, dealsSince, reading }: Closing, week: Week): WeekEvent {
  expectWhole(pool.holdings);
  const isFlat = pool.positions.length === 0;
  return {
    kind: "week",
    periodStart: periodStart(week, cutOff),
    cutOff,
    shares: floatingShares(pool, floatingBefore(pool, reading.marks, dealsSince)),
    pool,
    markedAt: isFlat ? undefined : reading.at,
  };
}
