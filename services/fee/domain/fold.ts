import { earn, type Earnings, NOTHING_EARNED, type Part } from "./layers.ts";
import { changesOf, type FeeVersion } from "./version.ts";

/** The results of an Investor with a Master, added up to an entry of the Master's allocations. */
export type Fold = {
  readonly foldedNumber: bigint;
  readonly earnings: Earnings;
};

/**
 * Where folding begins. A version that begins inside a layer was added after the layer: all results are folded again, which
 * makes a layer before it and one from it on. The mark stays, so nothing is charged twice.
 */
export function beginFold<F extends Fold>(fold: F, versions: readonly FeeVersion[]): F {
  const isChanged = changesOf(versions);
  const isDivided = fold.earnings.layers.some(({ earnedFrom, earnedTo }) => isChanged(earnedFrom, earnedTo));
  return isDivided ? { ...fold, foldedNumber: 0n, earnings: { ...NOTHING_EARNED, mark: fold.earnings.mark } } : fold;
}

/** Adds the next results, which are all up to the entry `foldedNumber`. In how many steps they are added changes nothing. */
export function continueFold<F extends Fold>(
  fold: F,
  { parts, foldedNumber }: { readonly parts: readonly Part[]; readonly foldedNumber: bigint },
  versions: readonly FeeVersion[],
): F {
  const earnings = earn(fold.earnings, parts, changesOf(versions));
  return { ...fold, foldedNumber, earnings };
}
