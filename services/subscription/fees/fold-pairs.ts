import type { Queryable } from "#kernel/postgres/query.ts";
import { continueFold, foldAgain, isDivided } from "../domain/fees/fold.ts";
import type { FeeFacts, Terms } from "../domain/fees/terms.ts";
import { listFoldStarts, listPartsToFold } from "../store/fold-results.ts";
import type { Pair } from "../store/pairs.ts";

/** Entries of one reading, over all pairs: bounds its memory. */
const ENTRIES_PER_READING = 20_000;
/** Readings of one call: bounds the time that locks are held. */
const MAX_READINGS = 10;

/** A pair, and the terms of its Investor. */
export type PairOnTerms = { readonly pair: Pair; readonly terms: Terms };

/**
 * The pairs of a Master with the results up to an entry, in the sequence of the array. A pair that is not folded to it had too many: it is to be
 * saved, and folded again. Nothing may be decided before.
 */
export async function foldPairs(
  db: Queryable,
  masterLogin: string,
  wanted: readonly PairOnTerms[],
  throughNumber: bigint,
): Promise<Pair[]> {
  let pairs = wanted;
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    pairs = await divideAgain(db, masterLogin, pairs);
    const behind = pairs.filter(({ pair }) => pair.foldedNumber < throughNumber);
    if (behind.length === 0) break;
    const entries = BigInt(Math.ceil(ENTRIES_PER_READING / behind.length));
    pairs = await foldNext(db, pairs, { masterLogin, throughNumber, entries });
  }
  return pairs.map(({ pair }) => pair);
}

/** Whether profit is older than what the terms are known for: a deal of the past was repaired after they were asked for. */
export function isEarnedBefore({ earnings }: Pair, { since }: Pick<FeeFacts, "since">): boolean {
  return since !== undefined && earnings.layers.some(({ earnedFrom }) => earnedFrom < since);
}

/** Pairs with a layer in which the terms change begin again before the first result of their layers. */
async function divideAgain(db: Queryable, masterLogin: string, pairs: readonly PairOnTerms[]): Promise<PairOnTerms[]> {
  const divided = pairs.filter(({ pair, terms }) => isDivided(pair, terms));
  const starts = await listFoldStarts(
    db,
    masterLogin,
    divided.map(({ pair }) => pair),
  );
  const again = new Map(divided.map((each, index) => [each, starts[index]]));
  return pairs.map((each) => {
    const start = again.get(each);
    return start === undefined ? each : { ...each, pair: foldAgain(each.pair, start) };
  });
}

async function foldNext(
  db: Queryable,
  pairs: readonly PairOnTerms[],
  { masterLogin, throughNumber, entries }: { masterLogin: string; throughNumber: bigint; entries: bigint },
): Promise<PairOnTerms[]> {
  const behind = pairs.flatMap((each) => {
    const last = each.pair.foldedNumber + entries;
    const next = { ...each, throughNumber: last < throughNumber ? last : throughNumber };
    return each.pair.foldedNumber < throughNumber ? [{ each, next }] : [];
  });
  const parts = await listPartsToFold(
    db,
    masterLogin,
    behind.map(({ next }) => next),
  );
  const folded = new Map(
    behind.map(({ each, next }, index) => {
      const results = { parts: parts[index] ?? [], foldedNumber: next.throughNumber };
      return [each, { ...each, pair: continueFold(each.pair, results, each.terms) }];
    }),
  );
  return pairs.map((each) => folded.get(each) ?? each);
}
