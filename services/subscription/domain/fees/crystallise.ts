import { type Earnings, type Layer, sumOf, takeFromTop } from "./layers.ts";
import { E8_PER_CENT } from "../pool/unit-pool.ts";

/** 1 in parts per million, exactly. */
const PPM = 1_000_000n;

/** A layer beside the rate that was in force when it was earned, in parts per million. */
export type RatedLayer = Layer & { readonly ratePpm: number };

export type Crystallisation = {
  /** Whole cents, rounded down once. */
  readonly fee: bigint;
  /** Before rounding, units of 1e-14 USD. */
  readonly exact: bigint;
  /** The earnings after the fee; unchanged when the fee is 0.00. */
  readonly after: Earnings;
  /** The layers that the fee covers, those with rate 0 included. */
  readonly charged: readonly RatedLayer[];
  /** The layers that an open loss may still consume. */
  readonly spared: readonly RatedLayer[];
};

export type CrystallisationFacts = {
  /** Floating result at the instant, signed, units of 1e-8 USD. A floating profit raises no fee. */
  readonly floating: bigint;
  readonly rateAt: (earnedAt: Date) => number;
};

/**
 * The fee for the profit above the high-water mark. An open loss is deducted from the top layers, which are kept uncharged.
 * A fee below one cent changes nothing, so that fractions add up.
 */
export function crystallise(before: Earnings, { floating, rateAt }: CrystallisationFacts): Crystallisation {
  const openLoss = floating < 0n ? -floating : 0n;
  const { rest, taken } = takeFromTop(before.layers, openLoss);
  const rated = (layer: Layer): RatedLayer => ({ ...layer, ratePpm: rateAt(layer.earnedFrom) });
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
