import type { Queryable } from "#kernel/postgres/query.ts";
import { continueFold, foldAgain, isDivided } from "../../domain/fees/fold.ts";
import type { Terms } from "../../domain/fees/terms.ts";
import { listFoldStarts, listPartsToFold } from "../../store/fold-results.ts";
import type { Pair } from "../../store/pairs.ts";

/** Entries of one reading, over all pairs: bounds its memory. */
const ENTRIES_PER_READING = 20_000;
/** Readings of one call: bounds the time that locks are held. */
const MAX_READINGS = 10;

/** A pair, and the terms of its Investor. */
export type PairOnTerms = { readonly pair: Pair; readonly terms: Terms };

/**
 * What is wanted with the results of its pairs of a Master up to an entry, in the sequence of the array. A pair that is not folded to it had too
 * many: it is to be saved, and folded again. Nothing may be decided before.
 */
export async function foldPairs<P extends PairOnTerms>(
  db: Queryable,
  masterLogin: string,
  wanted: readonly P[],
  throughNumber: bigint,
): Promise<P[]> {
  let pairs = [...wanted];
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    pairs = await divideAgain(db, masterLogin, pairs);
    const behind = pairs.filter((each) => isBehind(each, throughNumber));
    if (behind.length === 0) break;
    const entries = BigInt(Math.ceil(ENTRIES_PER_READING / behind.length));
    pairs = await foldNext(db, masterLogin, pairs, { throughNumber, entries });
  }
  return pairs;
}

export function isBehind({ pair }: PairOnTerms, throughNumber: bigint): boolean {
  return pair.foldedNumber < throughNumber;
}

/** Pairs with a layer in which the terms change begin again before the first result of their layers. */
async function divideAgain<P extends PairOnTerms>(
  db: Queryable,
  masterLogin: string,
  pairs: readonly P[],
): Promise<P[]> {
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

async function foldNext<P extends PairOnTerms>(
  db: Queryable,
  masterLogin: string,
  pairs: readonly P[],
  { throughNumber, entries }: { readonly throughNumber: bigint; readonly entries: bigint },
): Promise<P[]> {
  const behind = pairs.filter((each) => isBehind(each, throughNumber));
  const next = behind.map(({ pair }) => {
    const last = pair.foldedNumber + entries;
    return { pair, throughNumber: last < throughNumber ? last : throughNumber };
  });
  const parts = await listPartsToFold(db, masterLogin, next);
  const results = new Map(
    next.map(({ pair, throughNumber: foldedNumber }, index) => [pair, { parts: parts[index] ?? [], foldedNumber }]),
  );
  return pairs.map((each) => {
    const own = results.get(each.pair);
    return own === undefined ? each : { ...each, pair: continueFold(each.pair, own, each.terms) };
  });
}
