import type { Queryable } from "#kernel/postgres/query.ts";
import { continueFold, foldAgain, isDivided } from "../domain/fold.ts";
import { earlier } from "../domain/timeline.ts";
import { listTerms, type Terms } from "./configurations.ts";
import { listFoldStarts, listPartsToFold, type NextParts } from "./journal.ts";
import type { Pair } from "./pairs.ts";

/** A pair, and the entry of the allocations up to which its results count. */
export type PairToFold = {
  readonly pair: Pair;
  readonly throughNumber: bigint;
};

/** An Investor of a decision, with the pair that is folded for it. */
export type WantedFold = {
  readonly investorLogin: string;
  /** The instant that is decided. */
  readonly at: Date;
  readonly toFold: PairToFold | undefined;
};

export type Folded = {
  /** In the sequence of the array. */
  readonly pairs: readonly (Pair | undefined)[];
  /** By Investor: what their timelines say of the instant of the decision, and of the profit in their pairs. */
  readonly terms: ReadonlyMap<string, Terms>;
};

/**
 * The pairs with further results added. At most about `maxResults` are added, the same number to each pair that lacks some; a pair that reaches
 * its entry is folded. A pair that lacks none is returned as it is, and one that has to be folded again as it is before the first result of its
 * layers. The Investors are distinct.
 */
export async function foldResults(db: Queryable, wanted: readonly WantedFold[], maxResults: number): Promise<Folded> {
  const behind = wanted.flatMap(({ toFold }) => (toFold !== undefined && isBehind(toFold) ? [toFold] : []));
  const resultsEach = Math.max(1, Math.floor(maxResults / behind.length));
  const listed = await listPartsToFold(
    db,
    behind.map(({ pair, throughNumber }) => ({ ...pair, throughNumber })),
    resultsEach,
  );
  const next = new Map(behind.map((toFold, index) => [toFold, listed[index]]));
  const known = wanted.map((each) => ({ ...each, next: each.toFold && next.get(each.toFold) }));
  const terms = await listTerms(
    db,
    known.map((each) => ({ investorLogin: each.investorLogin, since: earliest(each) })),
  );
  const versionsOf = (investorLogin: string) => terms.get(investorLogin)?.versions ?? [];
  const divided = known.flatMap(({ investorLogin, toFold }) =>
    toFold !== undefined && isDivided(toFold.pair, versionsOf(investorLogin)) ? toFold.pair : [],
  );
  const starts = new Map((await listFoldStarts(db, divided)).map((start, index) => [divided[index], start]));
  const pairs = known.map(({ investorLogin, toFold, next: results }) => {
    if (toFold === undefined) return undefined;
    const start = starts.get(toFold.pair);
    if (start !== undefined) return foldAgain(toFold.pair, start);
    return results === undefined ? toFold.pair : continueFold(toFold.pair, results, versionsOf(investorLogin));
  });
  return { pairs, terms };
}

function isBehind({ pair, throughNumber }: PairToFold): boolean {
  const { investorLogin, masterLogin, foldedNumber } = pair;
  if (foldedNumber > throughNumber) {
    throw new Error(
      `Investor ${investorLogin} with Master ${masterLogin} is folded to ${foldedNumber}, beyond ${throughNumber}.`,
    );
  }
  return foldedNumber < throughNumber;
}

/** The decision rates no profit that is older: what is not charged yet, and what is added now. A deal may be older than those before it. */
function earliest({ at, toFold, next }: WantedFold & { readonly next: NextParts | undefined }): Date {
  const { layers = [] } = toFold?.pair.earnings ?? {};
  const instants = [
    ...layers.map(({ earnedFrom }) => earnedFrom),
    ...(next?.parts ?? []).map(({ earnedAt }) => earnedAt),
  ];
  return instants.reduce(earlier, at);
}
