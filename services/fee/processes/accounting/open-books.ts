import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Debt, inOrder } from "../../domain/debt.ts";
import { earn, NOTHING_EARNED } from "../../domain/layers.ts";
import { type FeeVersion, isChangedWithin } from "../../domain/version.ts";
import { listTerms, type Terms } from "../../store/configurations.ts";
import { findFirstToFold, listPartsToFold } from "../../store/journal.ts";
import { lockPairs, type Pair } from "../../store/pairs.ts";

/** Everything that a decision about an Investor's fees is based on, locked until commit. */
export type Books = {
  readonly investorLogin: string;
  /** The pair with the Master, results folded up to the requested entry; undefined outside a pool. */
  readonly pair: Pair | undefined;
  /** Debts to all Masters. */
  readonly debts: readonly Debt[];
  /** Undefined without a configuration. */
  readonly terms: Terms | undefined;
};

/** A week of thousands of results is read in pages of this size, which bounds memory and the time of a statement. */
const PARTS_PER_READ = 20_000;

/** An Investor, and the entry of its Master's allocations up to which its results count. */
export type WantedBooks = {
  readonly investorLogin: string;
  /** Undefined outside a pool. */
  readonly masterLogin: string | undefined;
  readonly throughNumber: bigint;
};

/** The Masters must be locked: only the holder of a Master's lock adds its pairs. The Investors are distinct. */
export async function openBooks(tx: Transaction, wanted: readonly WantedBooks[]): Promise<Books[]> {
  const investorLogins = wanted.map(({ investorLogin }) => investorLogin);
  const masterLogins = new Set(wanted.flatMap(({ masterLogin }) => masterLogin ?? []));
  const locked = await lockPairs(tx, investorLogins, [...masterLogins]);
  const known = new Map(locked.map((pair) => [nameOf(pair.investorLogin, pair.masterLogin), pair]));
  const pairOf = ({ investorLogin, masterLogin }: WantedBooks): Pair | undefined => {
    if (masterLogin === undefined) return undefined;
    return known.get(nameOf(investorLogin, masterLogin)) ?? newPair(investorLogin, masterLogin);
  };
  const byInvestor = Map.groupBy(locked, ({ investorLogin }) => investorLogin);
  const terms = await listTerms(tx, investorLogins);
  const versionsOf = (login: string): readonly FeeVersion[] => terms.get(login)?.versions ?? [];
  const own = wanted.map((each) => beforeFolding(pairOf(each), each, versionsOf(each.investorLogin)));
  const folded = await foldAll(tx, wanted, own, versionsOf);
  return wanted.map(({ investorLogin }) => ({
    investorLogin,
    pair: folded.get(investorLogin),
    debts: debtsOf(byInvestor.get(investorLogin) ?? []),
    terms: terms.get(investorLogin),
  }));
}

/**
 * A version that begins inside a layer was added after the layer: all results are folded again, which makes a layer before it and
 * one from it on. The mark stays, so nothing is charged twice. A pair that is folded beyond the requested entry is left to the check
 * of the fold.
 */
function beforeFolding(
  pair: Pair | undefined,
  { throughNumber }: WantedBooks,
  versions: readonly FeeVersion[],
): Pair | undefined {
  const isDivided = pair?.earnings.layers.some(({ earnedFrom, earnedTo }) =>
    isChangedWithin(versions, earnedFrom, earnedTo),
  );
  if (pair === undefined || isDivided !== true || pair.foldedNumber > throughNumber) return pair;
  return { ...pair, foldedNumber: 0n, earnings: { ...NOTHING_EARNED, mark: pair.earnings.mark } };
}

type VersionsOf = (investorLogin: string) => readonly FeeVersion[];

/** The pairs by Investor. Those of one Master up to one entry are folded together. */
async function foldAll(
  tx: Transaction,
  wanted: readonly WantedBooks[],
  pairs: readonly (Pair | undefined)[],
  versionsOf: VersionsOf,
): Promise<Map<string, Pair>> {
  const folded = new Map<string, Pair>();
  const groups = Map.groupBy(wanted.entries(), ([, { masterLogin = "", throughNumber }]) =>
    nameOf(masterLogin, String(throughNumber)),
  );
  for (const group of groups.values()) {
    const [, { masterLogin, throughNumber }] = group[0] as [number, WantedBooks];
    if (masterLogin === undefined) continue;
    const own = group.flatMap(([index]) => pairs[index] ?? []);
    const range = { masterLogin, throughNumber };
    for (const pair of await fold(tx, range, own, versionsOf)) folded.set(pair.investorLogin, pair);
  }
  return folded;
}

type Range = { readonly masterLogin: string; readonly throughNumber: bigint };

async function fold(tx: Transaction, range: Range, pairs: readonly Pair[], versionsOf: VersionsOf): Promise<Pair[]> {
  const { masterLogin, throughNumber } = range;
  const ahead = pairs.find(({ foldedNumber }) => foldedNumber > throughNumber);
  if (ahead !== undefined) {
    throw new Error(
      `Investor ${ahead.investorLogin} with Master ${masterLogin} is folded to ${ahead.foldedNumber}, beyond ${throughNumber}.`,
    );
  }
  const entriesPerRead = BigInt(Math.max(1, Math.floor(PARTS_PER_READ / pairs.length)));
  let folded = pairs;
  for (let next = await firstToFold(tx, range, pairs, entriesPerRead); next <= throughNumber; next += entriesPerRead) {
    const through = next + entriesPerRead - 1n;
    folded = await foldThrough(
      tx,
      { masterLogin, fromNumber: next, throughNumber: through < throughNumber ? through : throughNumber },
      folded,
      versionsOf,
    );
  }
  return folded.map((pair) => ({ ...pair, foldedNumber: throughNumber }));
}

/** A new pair of an old Master has no part in most of its entries, which are skipped. */
async function firstToFold(
  tx: Transaction,
  range: Range,
  pairs: readonly Pair[],
  entriesPerRead: bigint,
): Promise<bigint> {
  const first = pairs.reduce(
    (least, { foldedNumber }) => (foldedNumber < least ? foldedNumber : least),
    range.throughNumber,
  );
  if (range.throughNumber - first <= entriesPerRead) return first + 1n;
  return (await findFirstToFold(tx, range, pairs)) ?? range.throughNumber + 1n;
}

async function foldThrough(
  tx: Transaction,
  range: Range & { readonly fromNumber: bigint },
  pairs: readonly Pair[],
  versionsOf: VersionsOf,
): Promise<Pair[]> {
  const parts = await listPartsToFold(tx, range, pairs);
  return pairs.map((pair) => ({
    ...pair,
    foldedNumber: pair.foldedNumber > range.throughNumber ? pair.foldedNumber : range.throughNumber,
    earnings: earn(pair.earnings, parts.get(pair.investorLogin) ?? [], (from, to) =>
      isChangedWithin(versionsOf(pair.investorLogin), from, to),
    ),
  }));
}

function newPair(investorLogin: string, masterLogin: string): Pair {
  const none = { storedLayers: [], debt: undefined, crystallisedAt: undefined };
  return { investorLogin, masterLogin, foldedNumber: 0n, earnings: NOTHING_EARNED, ...none };
}

function nameOf(login: string, other: string): string {
  return `${login}/${other}`;
}

function debtsOf(pairs: readonly Pair[]): Debt[] {
  return inOrder(pairs.flatMap(({ masterLogin, debt }) => (debt === undefined ? [] : [{ masterLogin, ...debt }])));
}
