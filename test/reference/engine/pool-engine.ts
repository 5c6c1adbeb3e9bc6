import { allocate, type Deal } from "./allocate.ts";
import { type Payment, toCents } from "./cents.ts";
import type { Fraction } from "./fraction.ts";
import { arrive, depart, emptyPool, floatingOf, holdingOf, holdingsOf, leave, type Owner, type Pool } from "./pool.ts";
import { compensate, strike } from "./strike.ts";

/** The floating result in cents, by position. */
export type Floating = ReadonlyMap<bigint, bigint>;

/** The events of a pool, for the reference and for the code under test. */
export type PoolEngine = {
  readonly arrive: (owner: Owner, cents: bigint) => void;
  readonly depart: (owner: Owner, cents: bigint) => void;
  readonly strike: (floating: Floating) => void;
  readonly allocate: (deal: Deal) => readonly Payment<Owner>[];
  readonly leave: (holding: bigint) => void;
  /** Raises the holdings of Investors below zero out of own capital; only while the Master has no positions. */
  readonly compensate: () => void;
  readonly floating: (holding: bigint, floating: Floating) => Fraction;
  readonly cash: (owner: Owner) => { readonly pooled: bigint; readonly waiting: bigint };
  /** Whether an inflow or outflow is not in the shares yet. */
  readonly isStrikeDue: () => boolean;
  readonly volumeOf: (position: bigint) => bigint;
};

export function referencePool(pool: Pool = emptyPool(), round: typeof toCents = toCents): PoolEngine {
  return {
    arrive: (owner, cents) => arrive(pool, owner, cents),
    depart: (owner, cents) => depart(pool, owner, cents),
    strike: (floating) => strike(pool, floating),
    allocate: (deal) => allocate(pool, deal, round),
    leave: (holding) => leave(pool, holding),
    compensate: () => compensate(pool),
    floating: (holding, floating) => floatingOf(pool, holding, floating),
    cash: (owner) => holdingOf(pool, owner),
    isStrikeDue: () => holdingsOf(pool).some(([, { waiting, unredeemed }]) => waiting !== 0n || unredeemed !== 0n),
    volumeOf: (position) => pool.positions.get(position)?.volume ?? 0n,
  };
}
