import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isSameDatabase, readDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { type DecidedFee, insertDecisions } from "../../store/fee-decisions.ts";
import {
  endWeek,
  findOpenWeek,
  listWeekShares,
  moveWeek,
  type OpenWeek,
  type WeekFacts,
  type WeekShare,
} from "../../store/open-weeks.ts";
import { lockPairs, type Pair, savePairs } from "../../store/pairs.ts";
import { askTerms, type AskedTerms } from "../../fees/ask-terms.ts";
import { decidedFees, decidedPair } from "../../fees/decide-due.ts";
import { foldPairs, isEarnedBefore } from "../../fees/fold-pairs.ts";
import { decideDue, WEEK_SUFFIX } from "../../domain/fees/due.ts";

/** Investors of one transaction. */
const INVESTORS_PER_PAGE = 200;

/**
 * Decides the next fees of a closed week, as of its cut-off: one page of Investors in one transaction. Trading goes on meanwhile; who leaves
 * the pool waits until its own page is decided, and recorded. Returns why it has to wait, "more" or "end".
 */
export async function decideWeekPage(
  deps: Deps,
  week: OpenWeek,
  context: CallContext,
): Promise<"more" | "end" | { readonly waits: string }> {
  const { pool } = deps;
  const facts = await findOpenWeek(pool, week.id);
  if (facts === undefined) return "end";
  const shares = await listWeekShares(pool, week, { after: facts.decidedSubscriptionId, limit: INVESTORS_PER_PAGE });
  const investorLogins = shares.map(({ investorLogin }) => investorLogin);
  const terms = await askTerms(deps, { masterLogin: week.masterLogin, investorLogins, at: facts.cutOff }, context);
  if (terms.isStopped) return { waits: "the fees of the Master are suspended until operators have decided" };
  const page = { facts, shares, terms, isLast: shares.length < INVESTORS_PER_PAGE };
  const end = await inTransaction(pool, (tx) => decidePage(tx, week, page));
  return page.isLast && end === "decided" ? "end" : "more";
}

type Page = {
  readonly facts: WeekFacts;
  readonly shares: readonly WeekShare[];
  readonly terms: AskedTerms;
  readonly isLast: boolean;
};

/** "again": nothing is decided yet. */
async function decidePage(tx: Transaction, week: OpenWeek, page: Page): Promise<"again" | "decided"> {
  const { id, masterLogin, number } = week;
  const { facts, shares, terms, isLast } = page;
  const from = facts.decidedSubscriptionId;
  const to = shares.at(-1)?.subscriptionId ?? from;
  // Its row is locked first, so that two replicas do not decide one page.
  if (!(await moveWeek(tx, { id, from, to }))) return "again";
  if (!isSameDatabase(await readDatabase(tx), terms.database)) {
    throw new Error("the database was replaced while terms were asked for");
  }
  const logins = shares.map(({ investorLogin }) => investorLogin);
  const locked = await lockPairs(tx, masterLogin, logins);
  const before = logins.map((login) => {
    const pair = locked.get(login);
    assert(pair !== undefined, "an Investor in a pool has a pair");
    assert(pair.foldedNumber < number, "nothing after a week is added up before it is decided");
    return { pair, terms: terms.of(login).terms };
  });
  const folded = await foldPairs(tx, masterLogin, before, number - 1n);
  if (folded.some((pair) => pair.foldedNumber < number - 1n || isEarnedBefore(pair, terms.of(pair.investorLogin)))) {
    await savePairs(tx, folded);
    await moveWeek(tx, { id, from: to, to: from });
    return "again";
  }
  const decided = folded.map((pair, index) => decideShare(pair, shares[index], { week, page }));
  await savePairs(
    tx,
    decided.map(({ pair }) => ({ ...pair, foldedNumber: number })),
  );
  if (isLast) await endWeek(tx, id);
  const due = decided.flatMap((each) => each.due);
  if (due.length === 0 && !isLast) return "decided";
  const run = { masterLogin, periodStart: facts.periodStart, periodEnd: facts.cutOff };
  await insertDecisions(tx, [{ ...run, departureKey: "", investorLogin: "", weeklyKeys: [], isLast, due }]);
  return "decided";
}

type OfWeek = { readonly week: OpenWeek; readonly page: Page };

function decideShare(
  pair: Pair,
  share: WeekShare | undefined,
  { week: { masterLogin, number }, page: { facts, terms } }: OfWeek,
): { readonly pair: Pair; readonly due: readonly DecidedFee[] } {
  const { investorLogin, earnings } = pair;
  const { cutOff, markedAt } = facts;
  const { earnings: after, due } = decideDue({
    masterLogin,
    earnings,
    terms: terms.of(investorLogin).terms,
    debts: terms.of(investorLogin).debts,
    floating: share?.floating ?? 0n,
    markedAt,
    throughNumber: number,
    since: pair.crystallisedAt,
    at: cutOff,
  });
  const fees = decidedFees(due, { investorLogin, suffix: WEEK_SUFFIX, occasion: { cutOff } });
  return { pair: decidedPair(pair, after, cutOff), due: fees };
}
