import { earn, type Earnings, type Part } from "./layers.ts";
import { changesOf, type Terms } from "./terms.ts";

/** The results of an Investor with a Master, added up to an entry of the Master's allocations. */
export type Fold = {
  readonly foldedNumber: bigint;
  readonly earnings: Earnings;
};

/** Whether a step of the terms begins inside a layer: it was made after the layer. The results are folded again, which makes a layer before it and one from it on. */
export function isDivided({ earnings: { layers } }: Fold, terms: Terms): boolean {
  const isChanged = changesOf(terms);
  return layers.some(({ earnedFrom, earnedTo }) => isChanged(earnedFrom, earnedTo));
}

/** The last entry after which the result was not above the mark, and what was earned by then. All layers are of the results after it. */
export type FoldStart = { readonly number: bigint; readonly earned: bigint };

/** A fold before the first result of its layers. The mark stays, so nothing is charged twice. */
export function foldAgain<F extends Fold>(fold: F, { number, earned }: FoldStart): F {
  return { ...fold, foldedNumber: number, earnings: { ...fold.earnings, earned, layers: [] } };
}

/** Adds the next results, which are all up to the entry `foldedNumber`. In how many steps they are added changes nothing. */
export function continueFold<F extends Fold>(
  fold: F,
  { parts, foldedNumber }: { readonly parts: readonly Part[]; readonly foldedNumber: bigint },
  terms: Terms,
): F {
  const earnings = earn(fold.earnings, parts, changesOf(terms));
  return { ...fold, foldedNumber, earnings };
}
