import type { Queryable } from "#kernel/postgres/query.ts";
import { beginFold, continueFold } from "../domain/fold.ts";
import type { FeeVersion } from "../domain/version.ts";
import { listPartsToFold } from "./journal.ts";
import type { Pair } from "./pairs.ts";

/** A pair, and the entry of the allocations up to which its results count. */
export type PairToFold = {
  readonly pair: Pair;
  readonly throughNumber: bigint;
  readonly versions: readonly FeeVersion[];
};

/**
 * The pairs with further results added, in the sequence of the array. At most about `maxResults` are added, the same number to
 * each pair that lacks some; a pair that reaches its entry is folded. A pair that lacks none is returned as it is.
 */
export async function foldResults(db: Queryable, wanted: readonly PairToFold[], maxResults: number): Promise<Pair[]> {
  const begun = wanted.map((each) => ({ ...each, pair: begin(each) }));
  const behind = begun.filter(({ pair, throughNumber }) => pair.foldedNumber < throughNumber);
  const resultsEach = Math.max(1, Math.floor(maxResults / behind.length));
  const next = await listPartsToFold(
    db,
    behind.map(({ pair, throughNumber }) => ({ ...pair, throughNumber })),
    resultsEach,
  );
  const folded = new Map(
    behind.map(({ pair, versions }, index) => {
      const results = next[index];
      return [pair, results === undefined ? pair : continueFold(pair, results, versions)];
    }),
  );
  return begun.map(({ pair }) => folded.get(pair) ?? pair);
}

function begin({ pair, throughNumber, versions }: PairToFold): Pair {
  const { investorLogin, masterLogin, foldedNumber } = pair;
  if (foldedNumber > throughNumber) {
    throw new Error(
      `Investor ${investorLogin} with Master ${masterLogin} is folded to ${foldedNumber}, beyond ${throughNumber}.`,
    );
  }
  return beginFold(pair, versions);
}
