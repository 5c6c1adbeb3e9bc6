import { type Earnings, type Layer, sumOf, takeFromTop } from "./layers.ts";
import { E8_PER_CENT, PPM } from "./units.ts";

/** A layer beside the rate that was in force when it was earned, in parts per million. */
export type RatedLayer = Layer & { readonly ratePpm: number };

export type Crystallisation = {
  /** Whole cents, rounded down once. */
  readonly fee: bigint;
  /** Before rounding, units of 1e-14 USD. */
  readonly exact: bigint;
  /** As they are afterwards; the same as before when the fee is 0.00. */
  readonly after: Earnings;
  /** What the fee was taken of, those without a rate included. */
  readonly charged: readonly RatedLayer[];
  /** What an open loss may still take away. */
  readonly spared: readonly RatedLayer[];
};

export type CrystallisationFacts = {
  /** Floating result at the instant, signed, units of 1e-8 USD. Profit that floats raises nothing. */
  readonly floating: bigint;
  readonly rateAt: (earnedAt: Date) => number;
};

/**
 * The fee for the profit above the high-water mark. An open loss lowers it from the top, and what it covers stays. While it
 * is below a cent nothing changes, so that fractions add up.
 */
export function crystallise(before: Earnings, { floating, rateAt }: CrystallisationFacts): Crystallisation {
  const openLoss = floating < 0n ? -floating : 0n;
  const { rest, taken } = takeFromTop(before.layers, openLoss);
  const rated = (layer: Layer): RatedLayer => ({ ...layer, ratePpm: rateAt(layer.earnedAt) });
  const charged = rest.map(rated);
  const exact = charged.reduce((sum, layer) => sum + shareOf(layer), 0n);
  const fee = exact / (E8_PER_CENT * PPM);
  const after = fee === 0n ? before : { ...before, mark: before.mark + sumOf(rest), layers: taken };
  return { fee, exact, after, charged, spared: taken.map(rated) };
}

/** Units of 1e-14 USD. */
export function shareOf({ amount, ratePpm }: RatedLayer): bigint {
  return amount * BigInt(ratePpm);
}
