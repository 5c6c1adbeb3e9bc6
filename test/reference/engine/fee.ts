import { type Configuration, type Instant, isEnabledAt, rateAt } from "./configuration.ts";
import {
  compare,
  type Fraction,
  floor,
  fraction,
  larger,
  minus,
  negative,
  plus,
  smaller,
  times,
  total,
  ZERO,
} from "./fraction.ts";

/** Profit above the earlier maximum, with the time at which it was earned. Cents. */
export type Layer = { readonly amount: Fraction; readonly earnedAt: Instant };

/** One Investor at one Master, across all subscriptions. */
export type FeeAccount = {
  /** Cents allocated since the first baseline. */
  gained: bigint;
  /** The part of `gained` for which fees were charged. */
  highWaterMark: Fraction;
  /** Their sum is `gained` less the high-water mark; the oldest first. */
  layers: Layer[];
};

export function newFeeAccount(): FeeAccount {
  return { gained: 0n, highWaterMark: ZERO, layers: [] };
}

/** Adds a result that was allocated to the Investor. */
export function earn(account: FeeAccount, cents: bigint, at: Instant): void {
  const before = larger(fraction(account.gained), account.highWaterMark);
  account.gained += cents;
  const above = minus(fraction(account.gained), before);
  if (cents > 0n && compare(above, ZERO) > 0) account.layers.push({ amount: above, earnedAt: at });
  if (cents < 0n) account.layers = earliest(account.layers, gap(account));
}

/** The layers that may be charged now: an open loss counts as realised, an open profit does not count. */
export function chargeable({ layers }: FeeAccount, floating: Fraction): Layer[] {
  const openLoss = larger(negative(floating), ZERO);
  return earliest(layers, minus(sumOf(layers), openLoss));
}

/** Whole cents, rounded down once. Zero while fees are disabled. */
export function pendingFee(account: FeeAccount, configuration: Configuration, at: Instant, floating: Fraction): bigint {
  return floor(exactFee(account, configuration, at, floating));
}

/** In cents, before it is rounded. */
export function exactFee(account: FeeAccount, configuration: Configuration, at: Instant, floating: Fraction): Fraction {
  if (!isEnabledAt(configuration, at)) return ZERO;
  const shares = chargeable(account, floating).map((layer) => {
    return times(layer.amount, rateAt(configuration, layer.earnedAt));
  });
  return total(shares);
}

/** Returns the fee that becomes due, and raises the high-water mark by the charged profit. */
export function crystallise(
  account: FeeAccount,
  configuration: Configuration,
  at: Instant,
  floating: Fraction,
): bigint {
  const fee = pendingFee(account, configuration, at, floating);
  if (fee === 0n) return 0n;
  const charged = sumOf(chargeable(account, floating));
  account.highWaterMark = plus(account.highWaterMark, charged);
  account.layers = withoutEarliest(account.layers, charged);
  return fee;
}

export function gap({ gained, highWaterMark }: FeeAccount): Fraction {
  return larger(minus(fraction(gained), highWaterMark), ZERO);
}

export function sumOf(layers: readonly Layer[]): Fraction {
  return total(layers.map(({ amount }) => amount));
}

/** The earliest layers up to a sum: a loss takes the latest layers first. */
function earliest(layers: readonly Layer[], sum: Fraction): Layer[] {
  const kept: Layer[] = [];
  let left = larger(sum, ZERO);
  for (const { amount, earnedAt } of layers) {
    const part = smaller(amount, left);
    if (compare(part, ZERO) > 0) kept.push({ amount: part, earnedAt });
    left = minus(left, part);
  }
  return kept;
}

function withoutEarliest(layers: readonly Layer[], sum: Fraction): Layer[] {
  const kept: Layer[] = [];
  let left = sum;
  for (const { amount, earnedAt } of layers) {
    const part = smaller(amount, left);
    const rest = minus(amount, part);
    if (compare(rest, ZERO) > 0) kept.push({ amount: rest, earnedAt });
    left = minus(left, part);
  }
  return kept;
}
