import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Debt, inOrder } from "../../domain/debt.ts";
import { earn } from "../../domain/layers.ts";
import { listTerms, type Terms } from "../../store/configurations.ts";
import { findFirstToFold, listPartsToFold } from "../../store/journal.ts";
import { insertPairs, lockPairs, type Pair } from "../../store/pairs.ts";

/** Everything that a fee of an Investor is decided of, locked until commit. */
export type Books = {
  readonly investorLogin: string;
  /** With the Master in question, results folded up to the place in question; undefined outside a pool. */
  readonly pair: Pair | undefined;
  /** To all Masters. */
  readonly debts: readonly Debt[];
  /** Undefined without a configuration. */
  readonly terms: Terms | undefined;
};

/** However much a Master trades: a week of thousands of results is read in pieces that neither time nor memory limits. */
const PARTS_PER_READ = 20_000;

export type Place = { readonly masterLogin: string; readonly throughNumber: bigint };

/** The Master is locked, if there is one. Investors come in the order of their logins, each once. */
export async function openBooks(
  tx: Transaction,
  place: Place | undefined,
  investorLogins: readonly string[],
): Promise<Books[]> {
  if (place !== undefined) await insertPairs(tx, place.masterLogin, investorLogins);
  const locked = await lockPairs(tx, place?.masterLogin, investorLogins);
  const own = place === undefined ? [] : await fold(tx, place, locked);
  const pairs = new Map(own.map((pair) => [pair.investorLogin, pair]));
  const byInvestor = Map.groupBy(locked, ({ investorLogin }) => investorLogin);
  const terms = await listTerms(tx, investorLogins);
  return investorLogins.map((investorLogin) => ({
    investorLogin,
    pair: pairs.get(investorLogin),
    debts: debtsOf(byInvestor.get(investorLogin) ?? []),
    terms: terms.get(investorLogin),
  }));
}

async function fold(tx: Transaction, place: Place, locked: readonly Pair[]): Promise<Pair[]> {
  const { masterLogin, throughNumber } = place;
  const pairs = locked.filter((pair) => pair.masterLogin === masterLogin);
  const ahead = pairs.find(({ foldedNumber }) => foldedNumber > throughNumber);
  if (ahead !== undefined) {
    throw new Error(
      `${ahead.investorLogin} at ${masterLogin} is folded to ${ahead.foldedNumber}, beyond ${throughNumber}`,
    );
  }
  const first = await findFirstToFold(tx, place, pairs);
  let folded = pairs;
  const entriesPerRead = BigInt(Math.max(1, Math.floor(PARTS_PER_READ / Math.max(1, pairs.length))));
  for (let next = first ?? throughNumber + 1n; next <= throughNumber; next += entriesPerRead) {
    const through = next + entriesPerRead - 1n;
    folded = await foldThrough(
      tx,
      { masterLogin, throughNumber: through < throughNumber ? through : throughNumber },
      folded,
    );
  }
  return folded.map((pair) => ({ ...pair, foldedNumber: throughNumber }));
}

async function foldThrough(tx: Transaction, place: Place, pairs: readonly Pair[]): Promise<Pair[]> {
  const parts = await listPartsToFold(tx, place, pairs);
  return pairs.map((pair) => ({
    ...pair,
    foldedNumber: pair.foldedNumber > place.throughNumber ? pair.foldedNumber : place.throughNumber,
    earnings: earn(pair.earnings, parts.get(pair.investorLogin) ?? []),
  }));
}

function debtsOf(pairs: readonly Pair[]): Debt[] {
  return inOrder(pairs.flatMap(({ masterLogin, debt }) => (debt === undefined ? [] : [{ masterLogin, ...debt }])));
}
