/** An amount in 1e-8 USD: marks, carries, equities and net asset values are finer than a cent. */
export type E8 = bigint;

export const E8_PER_CENT = 1_000_000n;

/**
 * Factor by which marks and results per unit are scaled, so that division by the units of a pool loses no visible
 * amount.
 */
export const SCALE = 10n ** 24n;

/** In place of the subscription id of own capital: the highest number, so that own capital is last in every order. */
export const OWN_CAPITAL = 2n ** 63n - 1n;

/** Cents of one subscription, signed. */
export type Part = { readonly subscriptionId: bigint; readonly amount: bigint };

/** The share of one Investor in a pool, or of the own capital of the Master. Amounts in cents. */
export type UnitHolding = {
  /** OWN_CAPITAL for own capital. */
  readonly subscriptionId: bigint;
  /** u: units decide the share of results. */
  readonly units: bigint;
  /** P. */
  readonly pooled: bigint;
  /** V: on the Master, no units issued yet. */
  readonly waiting: bigint;
  /** Y: already taken out of P; its units are redeemed at the next possible strike. */
  readonly unredeemed: bigint;
  /** r: remainder of rounding to cents, of either sign, less than a cent. */
  readonly carry: E8;
};

/** An open position of the Master, with its attributed floating result. */
export type PoolPosition = {
  readonly positionId: bigint;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  /** M: the attributed part of its floating result, e8 times SCALE. */
  readonly mark: bigint;
  /** J: attributed result per unit, e8 times SCALE. */
  readonly perUnit: bigint;
  /**
   * Its floating result when the pool was valued last, e8 times SCALE: for the track record, and for what is below zero. It is
   * attributed by a strike, or by a compensation that raises what is below zero.
   */
  readonly valued: bigint;
};

/**
 * The attributed result of a holding whose units changed while the position was open. A holding without an accrual has
 * basis and perUnit 0.
 */
export type Accrual = {
  readonly positionId: bigint;
  /** OWN_CAPITAL for own capital. */
  readonly subscriptionId: bigint;
  /** b, e8 times SCALE. */
  readonly basis: bigint;
  /** J at that change. */
  readonly perUnit: bigint;
};

/** The unit accounting of a pool. Immutable: every operation returns a new pool. */
export type UnitPool = {
  /** Ascending by subscription: the holdings of all Investors with money, units, carry or accruals. */
  readonly holdings: readonly UnitHolding[];
  /**
   * X: money on the Master that belongs to no Investor, with its results. Shares in results as any holding; while no
   * holding has units, it is suspense and counts as one unit. Only here may an outflow take more than the holding has.
   */
  readonly own: UnitHolding;
  readonly positions: readonly PoolPosition[];
  readonly accruals: readonly Accrual[];
};

export const EMPTY_POOL: UnitPool = {
  holdings: [],
  own: { subscriptionId: OWN_CAPITAL, units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n },
  positions: [],
  accruals: [],
};

/** The books of a pool contradict themselves or the platform. Stops the Master pending manual review. */
export class PoolBroken extends Error {
  override readonly name = "PoolBroken";
}
