import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import type { Deps } from "../deps.ts";
import { debtsOf } from "../domain/debt.ts";
import type { PendingFacts } from "../domain/pending.ts";
import { feesUnknown } from "../domain/fees-unknown.ts";
import { presentOf } from "../domain/timeline.ts";
import type { Terms } from "../store/configurations.ts";
import { areFeesKnown } from "../store/fee-search.ts";
import { listOpenWeekly, type OpenWeekly } from "../store/due-payments.ts";
import { newPair, type Pair, type PrepaidPair, readPairs } from "../store/pairs.ts";
import { foldResults, type PairToFold } from "../store/folded-pairs.ts";

/** The pool of an Investor, with its share of the floating result at an entry of the Master's allocations. */
export type PoolNow = {
  readonly masterLogin: string;
  readonly throughNumber: bigint;
  readonly floating: bigint;
  readonly markedAt: Date | undefined;
};

export type FactsNow = {
  readonly facts: PendingFacts;
  /** Fees of closed weeks that are decided and not debited yet. */
  readonly openWeekly: readonly OpenWeekly[];
  readonly isKnown: boolean;
};

/**
 * Everything that a decision about an Investor would be based on, read in one snapshot and without a lock. "newer": a later entry than that
 * of the pool was decided meanwhile. "unfinished": adding the results takes longer than the call.
 */
export async function readFacts(
  deps: Deps,
  {
    investorLogin,
    pool,
    at,
  }: { readonly investorLogin: string; readonly pool: PoolNow | undefined; readonly at: Date },
  context: CallContext,
): Promise<FactsNow | "newer" | "unfinished"> {
  return await inSnapshot(deps.pool, async (db) => {
    if (!(await areFeesKnown(db))) throw feesUnknown();
    const pairs = await readPairs(db, investorLogin, pool === undefined ? [] : [pool.masterLogin]);
    const weekly = (await listOpenWeekly(db, [investorLogin])).get(investorLogin) ?? [];
    const folded = await foldPair(db, deps, { investorLogin, pool, pairs, at }, context);
    if (folded === "newer" || folded === "unfinished") return folded;
    const { pair, terms } = folded;
    const versions = terms?.versions ?? [];
    return {
      facts: {
        versions,
        debts: debtsOf(pairs),
        at: presentOf(terms, at),
        own: pool && pair && { ...pool, earnings: pair.earnings },
        prepaid: new Map(pairs.map(({ masterLogin, prepaid }) => [masterLogin, prepaid])),
      },
      openWeekly: weekly,
      isKnown: pool !== undefined || terms !== undefined || pairs.length > 0,
    };
  });
}

type Wanted = {
  readonly investorLogin: string;
  readonly pool: PoolNow | undefined;
  readonly pairs: readonly PrepaidPair[];
  readonly at: Date;
};

type FoldedPair = { readonly pair: Pair | undefined; readonly terms: Terms | undefined };

/** The pair with all results up to the entry, in the steps of a decision; nothing is saved. */
async function foldPair(
  db: Queryable,
  { steps }: Deps,
  { investorLogin, pool, pairs, at }: Wanted,
  context: CallContext,
): Promise<FoldedPair | "newer" | "unfinished"> {
  const { masterLogin, throughNumber = 0n } = pool ?? {};
  let pair: Pair | undefined =
    masterLogin === undefined
      ? undefined
      : (pairs.find((each) => each.masterLogin === masterLogin) ?? newPair(investorLogin, masterLogin));
  if (pair !== undefined && pair.foldedNumber > throughNumber) return "newer";
  for (;;) {
    const toFold: PairToFold | undefined = pair && { pair, throughNumber };
    const { pairs: folded, terms } = await foldResults(db, [{ investorLogin, at, toFold }], steps.results);
    pair = folded[0];
    if (pair === undefined || pair.foldedNumber === throughNumber) return { pair, terms: terms.get(investorLogin) };
    if (remainingMs(context) < REPLY_RESERVE_MS) return "unfinished";
  }
}
