import { allocate, type Deal } from "./allocate.ts";
import { type Payment, toCents } from "./cents.ts";
import type { Fraction } from "./fraction.ts";
import { arrive, depart, emptyPool, floatingOf, leave, type Owner, type Pool, holdingOf } from "./pool.ts";
import { strike } from "./strike.ts";

/** The floating result in cents, by position. */
export type Floating = ReadonlyMap<bigint, bigint>;

/** The events of a pool, for the reference and for the code under test. */
export type PoolEngine = {
  readonly arrive: (holding: bigint, cents: bigint) => void;
  readonly depart: (holding: bigint, cents: bigint) => void;
  readonly strike: (floating: Floating) => void;
  readonly allocate: (deal: Deal) => readonly Payment<Owner>[];
  readonly leave: (holding: bigint) => void;
  readonly floating: (holding: bigint, floating: Floating) => Fraction;
  readonly cash: (holding: bigint) => { readonly pooled: bigint; readonly waiting: bigint };
  /** Whether an inflow or outflow is not in the shares yet. */
  readonly isStrikeDue: () => boolean;
  readonly suspenseAmount: () => bigint;
  readonly volumeOf: (position: bigint) => bigint;
};

export function referencePool(pool: Pool = emptyPool(), round: typeof toCents = toCents): PoolEngine {
  return {
    arrive: (holding, cents) => arrive(pool, holding, cents),
    depart: (holding, cents) => depart(pool, holding, cents),
    strike: (floating) => strike(pool, floating),
    allocate: (deal) => allocate(pool, deal, round),
    leave: (holding) => leave(pool, holding),
    floating: (holding, floating) => floatingOf(pool, holding, floating),
    cash: (holding) => holdingOf(pool, holding),
    isStrikeDue: () =>
      [...pool.holdings.values()].some(({ waiting, unredeemed }) => waiting !== 0n || unredeemed !== 0n),
    suspenseAmount: () => pool.suspense.amount,
    volumeOf: (position) => pool.positions.get(position)?.volume ?? 0n,
  };
}
