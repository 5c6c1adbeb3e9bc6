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

/** Profit above everything that was there before, as it was earned. Cents. */
export type Layer = { readonly amount: Fraction; readonly earnedAt: Instant };

/** One Investor at one Master, for ever. */
export type FeeAccount = {
  /** Cents allocated since the first baseline. */
  gained: bigint;
  /** High-water mark: of what was gained, what is paid for. */
  mark: Fraction;
  /** Fills the gap from the mark to what was gained, the oldest first. */
  layers: Layer[];
};

export function newFeeAccount(): FeeAccount {
  return { gained: 0n, mark: ZERO, layers: [] };
}

/** A result of the Master has reached the Investor. */
export function earn(account: FeeAccount, cents: bigint, at: Instant): void {
  const before = larger(fraction(account.gained), account.mark);
  account.gained += cents;
  const above = minus(fraction(account.gained), before);
  if (cents > 0n && compare(above, ZERO) > 0) account.layers.push({ amount: above, earnedAt: at });
  if (cents < 0n) account.layers = lowest(account.layers, gap(account));
}

/** What may be charged for now: an open loss counts as if it were realised, an open profit not at all. */
export function chargeable({ layers }: FeeAccount, floating: Fraction): Layer[] {
  const openLoss = larger(negative(floating), ZERO);
  return lowest(layers, minus(sumOf(layers), openLoss));
}

/** Whole cents, rounded once and down. Nothing while fees are switched off. */
export function pendingFee(account: FeeAccount, configuration: Configuration, at: Instant, floating: Fraction): bigint {
  if (!isEnabledAt(configuration, at)) return 0n;
  const shares = chargeable(account, floating).map((layer) => {
    return times(layer.amount, rateAt(configuration, layer.earnedAt));
  });
  return floor(total(shares));
}

/** Answers the fee that is due from now on, and puts the mark above what it was for. */
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

/** The bottom of a stack, up to a height: what lies above was earned last and is lost first. */
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
