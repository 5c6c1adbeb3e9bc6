/** An amount in 1e-8 USD: marks, carries, equities and net asset values are finer than a cent. */
export type E8 = bigint;

export const E8_PER_CENT = 1_000_000n;

/**
 * Factor by which marks and results per unit are scaled, so that division by the units of a pool loses no visible
 * amount.
 */
export const SCALE = 10n ** 24n;

/** The share of one Investor in a pool. Amounts in cents. */
export type UnitHolding = {
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
  readonly symbol: string;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  /** M: the attributed part of its floating result, e8 times SCALE. */
  readonly mark: bigint;
  /** J: attributed result per unit, e8 times SCALE. */
  readonly perUnit: bigint;
};

/**
 * The attributed result of a holding whose units changed while the position was open. A holding without an accrual has
 * basis and perUnit 0.
 */
export type Accrual = {
  readonly positionId: bigint;
  /** Undefined for suspense. */
  readonly subscriptionId: bigint | undefined;
  /** b, e8 times SCALE. */
  readonly basis: bigint;
  /** J at that change. */
  readonly perUnit: bigint;
};

/** The unit accounting of a pool. Immutable: every operation returns a new pool. */
export type UnitPool = {
  /** Ascending by subscription: all holdings with money, units, carry or accruals. */
  readonly holdings: readonly UnitHolding[];
  /** Results in cents that belong to no Investor, and their carry. Counts as one unit while no holding has units. */
  readonly suspense: { readonly amount: bigint; readonly carry: E8 };
  readonly positions: readonly PoolPosition[];
  readonly accruals: readonly Accrual[];
};

export const EMPTY_POOL: UnitPool = { holdings: [], suspense: { amount: 0n, carry: 0n }, positions: [], accruals: [] };
