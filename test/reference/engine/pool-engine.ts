import { allocate, type Deal, give, isResult } from "./allocate.ts";
import { type Payment, toCents } from "./cents.ts";
import type { Instant } from "./configuration.ts";
import { type Fraction, fraction, isPositive, minus, plus, times, total, ZERO } from "./fraction.ts";
import {
  arrive,
  depart,
  emptyPool,
  floatingOf,
  hasHolders,
  holdingOf,
  holdingsOf,
  isInDeficit,
  leave,
  type Owner,
  ownersOf,
  type Pool,
  shareOf,
  valueAt,
} from "./pool.ts";
import { partsOfRepair, type PastResult, type Shares } from "./parts-of-repair.ts";
import { newPerformance, type Performance, revalue } from "./performance.ts";
import { compensate, relieve, strike, valueOfHolders } from "./strike.ts";

/** The floating result in cents, by position. */
export type Floating = ReadonlyMap<bigint, bigint>;

/** The events of a pool, for the reference and for the code under test. */
export type PoolEngine = {
  readonly arrive: (owner: Owner, cents: bigint) => void;
  readonly depart: (owner: Owner, cents: bigint) => void;
  readonly strike: (floating: Floating) => void;
  /** Looks at the open positions for the track record alone. */
  readonly observe: (floating: Floating) => void;
  readonly allocate: (deal: Deal) => readonly Payment<Owner>[];
  readonly leave: (holding: bigint) => void;
  /** Raises the holdings of Investors below zero out of own capital; only while the Master has no positions. */
  readonly compensate: () => void;
  /** Raises the holdings below zero out of money of the broker, which is no result; returns the rest. */
  readonly relieve: (cents: bigint) => { readonly raised: readonly Payment<Owner>[]; readonly rest: bigint };
  /** Own capital gives a result of now. */
  readonly give: (cents: bigint) => readonly Payment<Owner>[] | undefined;
  /** Own capital gives Investors their parts of a repair, as inflows and outflows; who has left gets them elsewhere. */
  readonly receive: (parts: readonly Payment<Owner>[]) => void;
  /** The parts of an amount that repairs a result, of which the pool had so many before. */
  readonly partsOfRepair: (repaired: PastResult, before: number, cents: bigint) => readonly Payment<Owner>[];
  /** The part of each owner in the next result. */
  readonly shares: () => Shares;
  readonly isInDeficit: (floating: Floating) => boolean;
  readonly floating: (holding: bigint, floating: Floating) => Fraction;
  readonly cash: (owner: Owner) => { readonly pooled: bigint; readonly waiting: bigint };
  /** Whether an inflow or outflow is not in the shares yet. */
  readonly isStrikeDue: () => boolean;
  /** Its part of the next result. */
  readonly share: (owner: Owner) => Fraction;
  /** The value of all shares as if all positions were closed at these results; cents. */
  readonly value: (floating: Floating) => Fraction;
  readonly volumeOf: (position: bigint) => bigint;
  /** `fees` by day, in cents, are only for the answer of the code under test. */
  readonly performance: (fees: ReadonlyMap<string, bigint>) => Performance;
};

function toInvestors(payments: readonly Payment<Owner>[]): bigint {
  return sum(payments.filter(({ owner }) => owner !== "own"));
}

function sum(payments: readonly Payment<Owner>[]): bigint {
  return payments.reduce((all, { cents }) => all + cents, 0n);
}

export function referencePool(
  pool: Pool = emptyPool(),
  now: () => Instant = () => 0,
  round: typeof toCents = toCents,
): PoolEngine {
  const performance = newPerformance();
  /** The floating result of each position when it was looked at last. */
  const seen = new Map<bigint, Fraction>();
  const value = (): Fraction => {
    if (!hasHolders(pool)) return ZERO;
    const unattributed = [...pool.positions].map(([id, { floated }]) => minus(seen.get(id) ?? ZERO, floated));
    return plus(valueOfHolders(pool), total(unattributed));
  };
  const valued = (change: () => void, result = 0n): void => {
    const before = value();
    change();
    revalue(performance, { at: now(), before, after: value(), result, isOpen: pool.positions.size > 0 });
  };
  /** What own capital gives is a result of the others, so it is no part of what they had. */
  const gained = (all: Fraction, given: bigint, result: bigint): void => {
    const before = given > 0n && isPositive(pool.own.share) ? minus(all, fraction(given)) : all;
    const isOpen = pool.positions.size > 0;
    revalue(performance, { at: now(), before, after: plus(before, fraction(result)), result, isOpen });
  };
  const look = (floating: Floating): void => {
    for (const id of pool.positions.keys()) seen.set(id, fraction(floating.get(id) ?? 0n));
  };
  /** A part of a position that is left keeps its part of what was seen. */
  const keep = ({ kind, positionId }: Deal, volume: bigint): void => {
    const left = pool.positions.get(positionId)?.volume ?? 0n;
    if (left === 0n || kind === "reversal") seen.delete(positionId);
    else if (kind === "exit") seen.set(positionId, times(seen.get(positionId) ?? ZERO, fraction(left, volume)));
  };
  const isPresent = (owner: Owner): boolean => owner === "own" || pool.holdings.has(owner);
  /** Inflows and outflows of the next strike, out of own capital. Returns what it gives. */
  const move = (parts: readonly Payment<Owner>[]): bigint => {
    const given = sum(parts);
    for (const { owner, cents } of [{ owner: "own" as const, cents: -given }, ...parts]) {
      if (!isPresent(owner)) continue;
      if (cents > 0n) arrive(pool, owner, cents);
      else depart(pool, owner, -cents);
    }
    return given;
  };
  return {
    arrive: (owner, cents) => arrive(pool, owner, cents),
    depart: (owner, cents) => depart(pool, owner, cents),
    strike(floating) {
      if (pool.positions.size > 0) valued(() => look(floating));
      strike(pool, floating);
    },
    observe(floating) {
      if (pool.positions.size > 0) valued(() => look(floating));
    },
    allocate(deal) {
      const volume = pool.positions.get(deal.positionId)?.volume ?? 0n;
      let payments: readonly Payment<Owner>[] = [];
      const change = (): void => {
        payments = allocate(pool, deal, round);
        keep(deal, volume);
      };
      if (isResult(deal)) valued(change, deal.result);
      else change();
      return payments;
    },
    leave: (holding) => leave(pool, holding),
    compensate: () => compensate(pool),
    relieve: (cents) => relieve(pool, cents, seen),
    give(cents) {
      let change = { before: ZERO, after: ZERO };
      const payments = give(pool, cents, round, (payment) => {
        const before = value();
        payment();
        change = { before, after: value() };
      });
      if (payments === undefined) return undefined;
      const given = move(payments.filter(({ owner }) => owner !== "own"));
      revalue(performance, { at: now(), ...change, result: given, isOpen: pool.positions.size > 0 });
      return payments;
    },
    receive(parts) {
      const before = value();
      const given = move(parts);
      gained(before, given, toInvestors(parts.filter(({ owner }) => isPresent(owner))));
    },
    partsOfRepair: (repaired, _before, cents) => partsOfRepair(repaired, cents),
    shares: () =>
      new Map(
        ownersOf(pool)
          .map((owner) => [owner, shareOf(pool, owner)] as const)
          .filter(([, share]) => isPositive(share)),
      ),
    isInDeficit: (floating) => isInDeficit(pool, floating),
    floating: (holding, floating) => floatingOf(pool, holding, floating),
    cash: (owner) => holdingOf(pool, owner),
    isStrikeDue: () => holdingsOf(pool).some(([, { waiting, unredeemed }]) => waiting !== 0n || unredeemed !== 0n),
    share: (owner) => shareOf(pool, owner),
    value: (floating) => valueAt(pool, floating),
    performance: () => performance,
    volumeOf: (position) => pool.positions.get(position)?.volume ?? 0n,
  };
}
