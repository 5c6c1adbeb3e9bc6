import { type Arrival, strikeArrivals } from "./arrival.ts";
import { floatingAtPlace } from "./floating-at-place.ts";
import { isCancelled, isResult, type MasterDeal, poolDealOf } from "./master-deal.ts";
import { type Allocation, allocateDeal } from "./pool/allocate-deal.ts";
import { checkPool } from "./pool/check-pool.ts";
import { poolEquity } from "./pool/equity.ts";
import { floatingShares } from "./pool/floating-shares.ts";
import { PoolBroken } from "./pool/pool-broken.ts";
import type { Mark } from "./pool/strike-pool.ts";
import type { E8, UnitPool } from "./pool/unit-pool.ts";
import { cutOffsDue, periodStart, type Week } from "./weeks.ts";

/** A pool between two events of its Master. */
export type Standing = {
  readonly pool: UnitPool;
  /** What waits in it, in its parts. */
  readonly arrivals: readonly Arrival[];
  /** Undefined while nobody is in the pool: then no week is closed, and none is waited for. */
  readonly weeksClosedThrough: Date | undefined;
  /** Highest ticket that was there at the last strike. */
  readonly struckDealId: bigint;
};

/** The Master as it was read, complete, at the end of the deals that are given with it. */
export type Reading = {
  readonly at: Date;
  /** All its open positions. */
  readonly marks: readonly Mark[];
  /** Cut-offs up to here are old enough to be closed. */
  readonly closeThrough: Date;
};

export type ResultStep = {
  readonly kind: "result";
  readonly deal: MasterDeal;
  readonly parts: Allocation["parts"];
  readonly suspense: bigint;
  /** After it. */
  readonly pool: UnitPool;
  readonly equity: E8;
  /** Its week was closed before it was seen: it counts in the open one. */
  readonly isLate: boolean;
};

export type WeekStep = {
  readonly kind: "week";
  readonly periodStart: Date;
  readonly cutOff: Date;
  readonly shares: ReadonlyMap<bigint, E8>;
  readonly pool: UnitPool;
  /** Undefined when the Master was flat. */
  readonly markedAt: Date | undefined;
};

export type Step = ResultStep | WeekStep;

export type Advance = {
  readonly standing: Standing;
  readonly steps: readonly Step[];
  /** How many of the deals were taken, those included that are no result. */
  readonly taken: number;
  /** What was thrown, so that the Master has to be stopped before the next deal: PoolBroken, or a fault of the program. */
  readonly stopped: { readonly error: unknown } | undefined;
  /** "blocked": the next deal belongs to a week that has to be closed first. "full": there is more. */
  readonly end: "done" | "blocked" | "full" | "stopped";
};

export type Rules = {
  readonly week: Week;
  readonly reading: Reading | undefined;
  readonly maxSteps: number;
  /** False for a Master that may have positions from before the books: then flat in the books does not say flat. */
  readonly arePositionsKnown: boolean;
  /** Entry of the Master's log up to which people let deals pass that stop it otherwise. */
  readonly letPassNumber: bigint;
  /** Of deals that are behind those that are given, those of positions that may be open; undefined when none is behind. */
  readonly beyond?: readonly MasterDeal[] | undefined;
};

/**
 * Takes a pool through the deals of its Master, in their order, and closes the weeks between them: a week as soon as
 * all deals before its cut-off are split, and never without a reading. Whatever does not fit stops the Master there.
 */
export function advancePool(standing: Standing, deals: readonly MasterDeal[], rules: Rules): Advance {
  const steps: Step[] = [];
  let now = standing;
  let taken = 0;
  const ended = (end: Advance["end"], stopped?: Advance["stopped"]): Advance => ({
    standing: now,
    steps,
    taken,
    stopped,
    end,
  });
  for (;;) {
    if (steps.length >= rules.maxSteps) return ended("full");
    const deal = deals[taken];
    try {
      const cutOff = nextCutOff(now, rules.week, latest(deal?.dealAt, rules.reading?.closeThrough));
      if (deal !== undefined && (cutOff === undefined || deal.dealAt < cutOff)) {
        if (rules.arePositionsKnown) now = admit(now, deal);
        const step = split(now, deal, rules.letPassNumber);
        now = { ...now, pool: step.pool };
        taken += 1;
        if (isResult(deal)) steps.push(step);
      } else if (deal === undefined && rules.beyond !== undefined) {
        return ended("full");
      } else if (cutOff !== undefined && rules.reading !== undefined && cutOff <= rules.reading.closeThrough) {
        const dealsSince = [...deals.slice(taken), ...(rules.beyond ?? [])];
        steps.push(closeWeek(now, { cutOff, dealsSince, reading: rules.reading }, rules.week));
        now = { ...now, weeksClosedThrough: cutOff };
      } else return ended(deal === undefined ? "done" : "blocked");
    } catch (error) {
      return ended("stopped", { error });
    }
  }
}

/** The next week that is not closed, as far as the deal or the reading reach. */
function nextCutOff({ weeksClosedThrough }: Standing, week: Week, through: Date | undefined): Date | undefined {
  if (weeksClosedThrough === undefined || through === undefined) return undefined;
  return cutOffsDue(week, weeksClosedThrough, through, 1)[0];
}

function latest(left: Date | undefined, right: Date | undefined): Date | undefined {
  return left !== undefined && (right === undefined || left > right) ? left : right;
}

function admit(standing: Standing, deal: MasterDeal): Standing {
  const arrived = strikeArrivals(standing.pool, standing.arrivals, deal);
  if (arrived === undefined) return standing;
  const { pool, arrivals, dealId } = arrived;
  const struckDealId = dealId > standing.struckDealId ? dealId : standing.struckDealId;
  return { ...standing, pool, arrivals, struckDealId };
}

function split({ pool, weeksClosedThrough, struckDealId }: Standing, deal: MasterDeal, letPass: bigint): ResultStep {
  if (deal.number > letPass) {
    if (isCancelled(deal)) throw new PoolBroken(`deal ${deal.dealId} takes another one back`);
    if (deal.dealId < struckDealId) throw new PoolBroken(`deal ${deal.dealId} is older than the last strike`);
  }
  const allocation = allocateDeal(pool, poolDealOf(deal));
  checkPool(allocation.pool);
  return {
    kind: "result",
    deal,
    ...allocation,
    equity: poolEquity(allocation.pool),
    isLate: weeksClosedThrough !== undefined && deal.dealAt < weeksClosedThrough,
  };
}

type Closing = { readonly cutOff: Date; readonly dealsSince: readonly MasterDeal[]; readonly reading: Reading };

function closeWeek({ pool }: Standing, { cutOff, dealsSince, reading }: Closing, week: Week): WeekStep {
  const isFlat = pool.positions.length === 0;
  return {
    kind: "week",
    periodStart: periodStart(week, cutOff),
    cutOff,
    shares: floatingShares(pool, floatingAtPlace(pool, reading.marks, dealsSince)),
    pool,
    markedAt: isFlat ? undefined : reading.at,
  };
}
