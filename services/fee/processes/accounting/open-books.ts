import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Debt, inOrder } from "../../domain/debt.ts";
import { earn } from "../../domain/layers.ts";
import { listTerms, type Terms } from "../../store/configurations.ts";
import { findFirstToFold, listPartsToFold } from "../../store/journal.ts";
import { insertPairs, lockPairs, type Pair } from "../../store/pairs.ts";

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

export type JournalPosition = { readonly masterLogin: string; readonly throughNumber: bigint };

/** The Master, if there is one, must be locked. `investorLogins` are sorted and distinct. */
export async function openBooks(
  tx: Transaction,
  position: JournalPosition | undefined,
  investorLogins: readonly string[],
): Promise<Books[]> {
  if (position !== undefined) await insertPairs(tx, position.masterLogin, investorLogins);
  const locked = await lockPairs(tx, position?.masterLogin, investorLogins);
  const own = position === undefined ? [] : await fold(tx, position, locked);
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

async function fold(tx: Transaction, position: JournalPosition, locked: readonly Pair[]): Promise<Pair[]> {
  const { masterLogin, throughNumber } = position;
  const pairs = locked.filter((pair) => pair.masterLogin === masterLogin);
  const ahead = pairs.find(({ foldedNumber }) => foldedNumber > throughNumber);
  if (ahead !== undefined) {
    throw new Error(
      `Investor ${ahead.investorLogin} with Master ${masterLogin} is folded to ${ahead.foldedNumber}, beyond ${throughNumber}.`,
    );
  }
  const first = await findFirstToFold(tx, position, pairs);
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

async function foldThrough(tx: Transaction, position: JournalPosition, pairs: readonly Pair[]): Promise<Pair[]> {
  const parts = await listPartsToFold(tx, position, pairs);
  return pairs.map((pair) => ({
    ...pair,
    foldedNumber: pair.foldedNumber > position.throughNumber ? pair.foldedNumber : position.throughNumber,
    earnings: earn(pair.earnings, parts.get(pair.investorLogin) ?? []),
  }));
}

function debtsOf(pairs: readonly Pair[]): Debt[] {
  return inOrder(pairs.flatMap(({ masterLogin, debt }) => (debt === undefined ? [] : [{ masterLogin, ...debt }])));
}
