import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Debt, inOrder } from "../domain/debt.ts";
import { earn } from "../domain/layers.ts";
import { listTerms, type Terms } from "../store/configurations.ts";
import { listPartsToFold } from "../store/journal.ts";
import { insertPairs, lockPairs, type Pair } from "../store/pairs.ts";

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
  const parts = await listPartsToFold(tx, place, pairs);
  return pairs.map((pair) => ({
    ...pair,
    foldedNumber: throughNumber,
    earnings: earn(pair.earnings, parts.get(pair.investorLogin) ?? []),
  }));
}

function debtsOf(pairs: readonly Pair[]): Debt[] {
  return inOrder(pairs.flatMap(({ masterLogin, debt }) => (debt === undefined ? [] : [{ masterLogin, ...debt }])));
}
