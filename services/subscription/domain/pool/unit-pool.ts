/** Units of 1e-8 USD: marks, carries, equities and net asset values are finer than a cent. */
export type E8 = bigint;

export const E8_PER_CENT = 1_000_000n;

/** What marks, and results per unit, are scaled by for each e8, so that dividing by the units of a pool loses nothing visible. */
export const SCALE = 10n ** 24n;

/** The part of one Investor in a pool. Amounts in cents. */
export type UnitHolding = {
  readonly subscriptionId: bigint;
  /** u: only who has units shares in results. */
  readonly units: bigint;
  /** P. */
  readonly pooled: bigint;
  /** V: mirrored, waits for its units. */
  readonly waiting: bigint;
  /** Y: has left P already; its units are redeemed at the next strike that can. */
  readonly unredeemed: bigint;
  /** r: what rounding to cents has left, below a cent either way. */
  readonly carry: E8;
};

/** An open position of the Master, as far as its floating result was attributed. */
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

/** Of a holding whose units changed while the position was open; for all others both numbers are 0. */
export type Accrual = {
  readonly positionId: bigint;
  /** Undefined for suspense: what belongs to nobody. */
  readonly subscriptionId: bigint | undefined;
  /** b, e8 times SCALE. */
  readonly basis: bigint;
  /** J at that change. */
  readonly perUnit: bigint;
};

/** A pool as units see it. A value: what happens to it makes a new one. */
export type UnitPool = {
  /** Ascending by subscription; everybody with units, carry, accruals, or money that waits for its strike. */
  readonly holdings: readonly UnitHolding[];
  /** What no Investor owns: results in cents, and a carry of its own. Counts as one unit while nobody has units. */
  readonly suspense: { readonly amount: bigint; readonly carry: E8 };
  readonly positions: readonly PoolPosition[];
  readonly accruals: readonly Accrual[];
};

export const EMPTY_POOL: UnitPool = { holdings: [], suspense: { amount: 0n, carry: 0n }, positions: [], accruals: [] };
