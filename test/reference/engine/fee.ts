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
  /** High-water mark: the part of `gained` for which fees were charged. */
  mark: Fraction;
  /** Their sum is the gap between the mark and `gained`; the oldest first. */
  layers: Layer[];
};

export function newFeeAccount(): FeeAccount {
  return { gained: 0n, mark: ZERO, layers: [] };
}

/** Adds a result that was allocated to the Investor. */
export function earn(account: FeeAccount, cents: bigint, at: Instant): void {
  const before = larger(fraction(account.gained), account.mark);
  account.gained += cents;
  const above = minus(fraction(account.gained), before);
  if (cents > 0n && compare(above, ZERO) > 0) account.layers.push({ amount: above, earnedAt: at });
  if (cents < 0n) account.layers = lowest(account.layers, gap(account));
}

/** The layers that may be charged now: an open loss counts as realised, an open profit does not count. */
export function chargeable({ layers }: FeeAccount, floating: Fraction): Layer[] {
  const openLoss = larger(negative(floating), ZERO);
  return lowest(layers, minus(sumOf(layers), openLoss));
}

/** Whole cents, rounded down once. Zero while fees are disabled. */
export function pendingFee(account: FeeAccount, configuration: Configuration, at: Instant, floating: Fraction): bigint {
  if (!isEnabledAt(configuration, at)) return 0n;
  const shares = chargeable(account, floating).map((layer) => {
    return times(layer.amount, rateAt(configuration, layer.earnedAt));
  });
  return floor(total(shares));
}

/** Returns the fee that becomes due, and raises the mark by the charged profit. */
export function crystallise(
  account: FeeAccount,
  configuration: Configuration,
  at: Instant,
  floating: Fraction,
): bigint {
  const fee = pendingFee(account, configuration, at, floating);
  if (fee === 0n) return 0n;
  const charged = sumOf(chargeable(account, floating));
  account.mark = plus(account.mark, charged);
  account.layers = withoutLowest(account.layers, charged);
  return fee;
}

export function gap({ gained, mark }: FeeAccount): Fraction {
  return larger(minus(fraction(gained), mark), ZERO);
}

export function sumOf(layers: readonly Layer[]): Fraction {
  return total(layers.map(({ amount }) => amount));
}

/** The lowest layers up to a height; the layers above were earned last and are lost first. */
function lowest(layers: readonly Layer[], height: Fraction): Layer[] {
  const kept: Layer[] = [];
  let left = larger(height, ZERO);
  for (const { amount, earnedAt } of layers) {
    const part = smaller(amount, left);
    if (compare(part, ZERO) > 0) kept.push({ amount: part, earnedAt });
    left = minus(left, part);
  }
  return kept;
}

function withoutLowest(layers: readonly Layer[], height: Fraction): Layer[] {
  const kept: Layer[] = [];
  let left = height;
  for (const { amount, earnedAt } of layers) {
    const part = smaller(amount, left);
    const rest = minus(amount, part);
    if (compare(rest, ZERO) > 0) kept.push({ amount: rest, earnedAt });
    left = minus(left, part);
  }
  return kept;
}
