import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Debt, debtsOf } from "../../domain/debt.ts";
import type { Terms } from "../../store/configurations.ts";
import { nameOf } from "../../store/layers.ts";
import type { LockedMasters } from "../../store/masters.ts";
import { lockPairs, newPair, type Pair } from "../../store/pairs.ts";
import { foldResults } from "../../store/folded-pairs.ts";

/** Everything that a decision about an Investor's fees is based on, locked until commit. */
export type Books = {
  readonly investorLogin: string;
  /** The pair with the Master; undefined outside a pool, and when a later entry was decided. */
  readonly pair: Pair | undefined;
  /**
   * The pair has all results up to the requested entry. Otherwise there were too many for one transaction: the pair is to be
   * saved, and the books are opened again. Nothing may be decided before.
   */
  readonly isFolded: boolean;
  /** The pair differs from the recorded one. */
  readonly isChanged: boolean;
  /** Debts to all Masters whose fees are not stopped. */
  readonly debts: readonly Debt[];
  /** What the timeline says of the decided instant and of profit that is not charged yet; undefined without a configuration. */
  readonly terms: Terms | undefined;
};

/** An Investor, and the entry of its Master's allocations up to which its results count. */
export type WantedBooks = {
  readonly investorLogin: string;
  /** Undefined outside a pool. */
  readonly masterLogin: string | undefined;
  readonly throughNumber: bigint;
  /** The instant that is decided. */
  readonly at: Date;
  /** A later entry may have been decided before: then that one has the fee, and the pair is not opened. */
  readonly isRepeated?: boolean;
};

export type Opening = {
  /**
   * Those of the wanted books, and those that the Investors owe fees to: only the holder of a Master's lock adds its pairs, and a debt is paid to the
   * account that its Master has then. A debt to another Master waits for the next decision.
   */
  readonly masters: LockedMasters;
  /** About as many results are added at most. */
  readonly maxResults: number;
};

/** The Investors are distinct. */
export async function openBooks(
  tx: Transaction,
  wanted: readonly WantedBooks[],
  { masters, maxResults }: Opening,
): Promise<Books[]> {
  const investorLogins = wanted.map(({ investorLogin }) => investorLogin);
  const masterLogins = [...masters.values()].flatMap((each) =>
    each.breakReason === undefined ? each.masterLogin : [],
  );
  const ownLogins = wanted.flatMap(({ masterLogin }) => masterLogin ?? []);
  const locked = await lockPairs(tx, investorLogins, { ownLogins, masterLogins });
  const known = new Map(locked.map((pair) => [nameOf(pair), pair]));
  const byInvestor = Map.groupBy(locked, ({ investorLogin }) => investorLogin);
  const before = wanted.map(({ investorLogin, masterLogin, throughNumber, isRepeated = false }) => {
    if (masterLogin === undefined) return undefined;
    const pair = known.get(nameOf({ investorLogin, masterLogin })) ?? newPair(investorLogin, masterLogin);
    return isRepeated && pair.foldedNumber > throughNumber ? undefined : { pair, throughNumber };
  });
  const { pairs, terms } = await foldResults(
    tx,
    wanted.map(({ investorLogin, at }, index) => ({ investorLogin, at, toFold: before[index] })),
    maxResults,
  );
  return wanted.map(({ investorLogin, throughNumber }, index) => {
    const pair = pairs[index];
    return {
      investorLogin,
      pair,
      isFolded: pair === undefined || pair.foldedNumber === throughNumber,
      isChanged: pair !== before[index]?.pair,
      debts: debtsOf(byInvestor.get(investorLogin) ?? []),
      terms: terms.get(investorLogin),
    };
  });
}

/** The pairs to save when their books were opened without a decision. */
export function changedPairs(books: readonly Books[]): Pair[] {
  return books.flatMap(({ pair, isChanged }) => (isChanged && pair !== undefined ? [pair] : []));
}
