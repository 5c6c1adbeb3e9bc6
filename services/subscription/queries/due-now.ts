import assert from "node:assert/strict";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { isSameDatabase, readDatabase } from "#kernel/postgres/database-identity.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { decideDebts, decideDue, type Due, type DueFacts, lessPrepaid } from "../domain/fees/due.ts";
import { earn } from "../domain/fees/layers.ts";
import { changesOf, type FeeFacts } from "../domain/fees/terms.ts";
import type { AskedTerms } from "../fees/ask-terms.ts";
import { foldPairs, isEarnedBefore, type PairOnTerms } from "../fees/fold-pairs.ts";
import { listUncounted } from "../store/fee-decisions.ts";
import { type Pair, readPairs } from "../store/pairs.ts";

/** The pool of an Investor at its last allocation. */
export type PoolNow = Pick<DueFacts, "masterLogin" | "floating" | "markedAt"> & {
  readonly subscriptionId: bigint;
  readonly lastAllocation: bigint;
};

/** What the fees of an Investor would be decided with now. */
export type DueNow = {
  readonly facts: FeeFacts;
  readonly at: Date;
  /** Undefined outside a pool. */
  readonly inPool: DueFacts | undefined;
};

type Wanted = {
  readonly investorLogin: string;
  /** Undefined outside a pool. */
  readonly pool: PoolNow | undefined;
  readonly asked: AskedTerms;
  readonly now: Date;
};

/**
 * Reads on the snapshot of the books what a decision would be made of, and adds up the results in memory. Undefined while a decision would wait:
 * fees of a closed week are still to be decided, or were not counted by `fee` when it was asked.
 */
export async function readDueNow(
  db: Queryable,
  { investorLogin, pool, asked, now }: Wanted,
  context: CallContext,
): Promise<DueNow | undefined> {
  const facts = asked.of(investorLogin);
  if (!isSameDatabase(await readDatabase(db), asked.database)) return undefined;
  // The clock of another replica, which has made the newest version and has said that it is in force, may be ahead.
  const at = facts.updatedAt !== undefined && facts.updatedAt > now ? facts.updatedAt : now;
  const own = { investorLogin, subscriptionId: pool?.subscriptionId };
  const uncounted = await listUncounted(db, pool?.masterLogin ?? "", [own], asked.askedAt);
  if (uncounted.size > 0) return undefined;
  if (pool === undefined) return { facts, at, inPool: undefined };
  const { masterLogin, lastAllocation: throughNumber, floating, markedAt } = pool;
  const stored = (await readPairs(db, masterLogin, [investorLogin])).get(investorLogin);
  assert(stored !== undefined, "an Investor in a pool has a pair");
  const pair = await foldAll(db, { pair: stored, terms: facts.terms }, throughNumber, context);
  if (pair === undefined || isEarnedBefore(pair, facts)) return undefined;
  const { earnings, crystallisedAt: since } = pair;
  const { terms, debts } = facts;
  const inPool = { masterLogin, earnings, terms, debts, floating, markedAt, throughNumber, since, at };
  return { facts, at, inPool };
}

/** Undefined when that takes longer than the call. */
async function foldAll(
  db: Queryable,
  { pair, terms }: PairOnTerms,
  throughNumber: bigint,
  context: CallContext,
): Promise<Pair | undefined> {
  const [folded] = await foldPairs(db, pair.masterLogin, [{ pair, terms }], throughNumber);
  assert(folded !== undefined);
  if (folded.foldedNumber >= throughNumber) return folded;
  if (remainingMs(context) < REPLY_RESERVE_MS) return undefined;
  return await foldAll(db, { pair: folded, terms }, throughNumber, context);
}

/** By the functions that decide weeks and leaves. */
export function decideNow({ facts, at, inPool }: DueNow): readonly Due[] {
  return inPool === undefined ? decideDebts({ ...facts, at }) : decideDue(inPool).due;
}

/** Cents: fee and debts, less what was paid in advance. */
export function sumDueNow(now: DueNow): bigint {
  return lessPrepaid(decideNow(now), now.facts.prepaid).reduce((sum, amount) => sum + amount, 0n);
}

/** As if the Master closed its positions: what floats, in cents, is a result of this instant. */
export function realise({ inPool, at, facts }: DueNow, amount: bigint): DueNow {
  const earnings = inPool && earn(inPool.earnings, [{ amount, earnedAt: at }], changesOf(facts.terms));
  return { facts, at, inPool: inPool && earnings && { ...inPool, earnings, floating: 0n } };
}
