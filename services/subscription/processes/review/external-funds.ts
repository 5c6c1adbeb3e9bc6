import assert from "node:assert/strict";
import { formatAmount, formatMinor, usd } from "#kernel/values/money.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { noteAmount } from "#kernel/review/cases.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { AccountBook, HoldingBook, PoolBook } from "../../domain/books.ts";
import { lockBooks, lockPools, saveAccounts } from "../../store/books.ts";
import { acknowledgeExternal, acknowledgeQuarantine, listToAdopt } from "../../store/external-funds.ts";
import { acknowledgeUnexplained } from "../../store/lost-results.ts";
import { LOST_RESULTS } from "../allocate/settle-books.ts";
import { insertFlows } from "../../store/flows.ts";
import { changeHoldings } from "../../store/holdings.ts";
import { findInvestorState } from "../../store/investor-states.ts";
import { lockMaster } from "../../store/masters.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount } from "../../domain/buckets.ts";
import { adoptExternal, undecidedOf } from "../../domain/quarantine.ts";
import type { Effect } from "./read-accounts.ts";

/** Prefixes of the subjects of cases about external funds on an Investor in a pool and on a Master, before the login. */
export const ON_INVESTOR = "quarantine:";
export const ON_MASTER = "external:";

/** External funds on an Investor become a deposit or withdrawal of that Investor, and are mirrored like one. */
export const adopt: Effect = {
  async examine(tx, { reviewCase }) {
    const found = await lockPooled(tx, reviewCase.login);
    if (found === undefined) return;
    const { account, holding } = found;
    const amount = undecidedOf(account);
    if (adoptExternal(amount, holding.buckets) === undefined) throw notCovered(amount, holding);
  },
  async carryOut(tx, deps, { reviewCase, at }) {
    const books = await lockInvestor(tx, reviewCase);
    const amount = undecidedOf(books.account);
    if (!(await adoptExternalFunds(tx, deps, { ...books, amount, at }))) {
      throw notCovered(amount, books.holding);
    }
  },
};

function notCovered(amount: bigint, { buckets }: HoldingBook): Refusal {
  const [taken, share] = [formatAmount(usd(-amount)), formatAmount(usd(buckets.pooled))];
  return actionNotPossible(
    `The charge or withdrawal of ${taken} exceeds the Investor's share of the pool, ${share}. Adopt it when a deposit has covered it, or acknowledge it.`,
  );
}

/** External funds of an Investor stay external, those of a Master are its own capital, as results of a lost time are: no further review is opened. */
export const acknowledge: Effect = {
  async carryOut(tx, _deps, { reviewCase }) {
    if (reviewCase.subject.startsWith(LOST_RESULTS)) {
      await lockPools(tx, [reviewCase.login]);
      return await acknowledgeUnexplained(tx, reviewCase.login);
    }
    if (reviewCase.subject.startsWith(ON_INVESTOR)) {
      const { account } = await lockInvestor(tx, reviewCase);
      return await acknowledgeQuarantine(tx, account.login);
    }
    const [pool] = await lockPools(tx, [reviewCase.login]);
    assert(pool !== undefined);
    const { externalNumber: number, own } = pool;
    const undecided = expectMoved(reviewCase, { ...pool, number });
    if (undecided === 0n) await noteOwnCapital(tx, reviewCase, own.waiting + own.pooled);
    await acknowledgeExternal(tx, reviewCase.login, pool.external);
  },
};

async function lockInvestor(tx: Transaction, reviewCase: ReviewCase): Promise<InvestorBooks> {
  const found = await lockPooled(tx, reviewCase.login);
  if (found === undefined) throw actionNotPossible("The Investor is no longer in this pool.");
  const undecided = undecidedOf(found.account);
  if (!isUpTo(reviewCase, found.account.movedNumber) || undecided === 0n) throw changed(undecided);
  await noteAmount(tx, reviewCase.id, undecided);
  return found;
}

/** The decision is about exactly the movements of the review; results may have changed own capital since. What of them is undecided. */
export function expectMoved(
  reviewCase: ReviewCase,
  { external, acknowledged, number }: Pick<PoolBook, "external" | "acknowledged"> & { readonly number: bigint },
): bigint {
  const undecided = external - (acknowledged ?? 0n);
  const { undecided: known } = JSON.parse(reviewCase.evidence) as { readonly undecided?: string };
  if (known !== formatMinor(undecided) || !isUpTo(reviewCase, number)) throw changed(undecided);
  return undecided;
}

/** Results may change own capital after the proposal, but not from money that is there to money that is lacking, or back. */
export async function noteOwnCapital(tx: Transaction, { id, amount }: ReviewCase, own: bigint): Promise<void> {
  if (own < 0n !== (amount ?? 0n) < 0n) throw changed(own);
  await noteAmount(tx, id, own);
}

/**
 * The review knows what other parties have moved on the account: it was written when the last of it had this log position. An Investor's own
 * trades do not count, otherwise no proposal about an Investor that trades would outlive a deal.
 */
export function isUpTo({ evidence }: Pick<ReviewCase, "evidence">, number: bigint): boolean {
  const { moved_log_number: known } = JSON.parse(evidence) as { readonly moved_log_number?: string };
  return known === String(number);
}

function changed(found: bigint): Refusal {
  return actionNotPossible(`The amount is now ${formatAmount(usd(found))}. Read the review again before deciding.`);
}

type InvestorBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** The Investor in a pool, locked; undefined outside one. */
async function lockPooled(tx: Transaction, login: string): Promise<InvestorBooks | undefined> {
  const { holding: investorState } = await findInvestorState(tx, login);
  const master = investorState && (await lockMaster(tx, investorState.masterLogin));
  const books = await lockBooks(tx, { investorLogins: [login], masterLogins: [] });
  const account = books.accounts.get(login);
  const holding = account?.pooledIn === undefined ? undefined : books.holdings.get(account.pooledIn);
  if (account === undefined || holding === undefined || holding.masterLogin !== master?.login) return undefined;
  return { account, holding };
}

type Adopted = InvestorBooks & {
  /** A part of the quarantine of the account, signed. */
  readonly amount: bigint;
  readonly at: Date;
};

/** False, and nothing is changed, when more was taken than the Investor has in the pool. */
async function adoptExternalFunds(
  tx: Transaction,
  deps: Deps,
  { account, holding, amount, at }: Adopted,
): Promise<boolean> {
  const adopted = adoptExternal(amount, holding.buckets);
  if (adopted === undefined) return false;
  const { change, flow, unredeemed } = adopted;
  const after = { ...account, buckets: changeAccount(account.buckets, change) };
  // What comes later has another cause, also when it is the same amount.
  await saveAccounts(tx, [undecidedOf(after) === 0n ? { ...after, cause: undefined } : after]);
  await changeHoldings(tx, [{ subscriptionId: holding.subscriptionId, ...change, unredeemed }]);
  if (flow !== 0n) await insertFlows(tx, [{ subscriptionId: holding.subscriptionId, amount: flow }], at);
  const { mirrors, strikes, external } = deps.wakeSignals;
  for (const { notify } of [mirrors, strikes, external]) afterCommit(tx, notify);
  return true;
}

/**
 * Adopts what the configuration lets be adopted without a review. It waits for a departure from the pool that is being decided, and for money on
 * its way into the pool that covers a charge, which take seconds each. Operators decide about a charge that the share does not cover.
 */
export async function adoptCharges(deps: Deps): Promise<void> {
  for (const login of await listToAdopt(deps.pool)) await adoptOn(deps, login);
}

async function adoptOn(deps: Deps, login: string): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    const found = await lockPooled(tx, login);
    if (found === undefined || found.account.toAdopt === 0n) return;
    const { account, holding } = found;
    const { toAdopt: amount, filedNumber } = account;
    const adopted = { account: { ...account, toAdopt: 0n }, holding, amount, at: deps.now() };
    if (await adoptExternalFunds(tx, deps, adopted)) return;
    const { inbound, waiting, pooled } = holding.buckets;
    // Operators decide, and no proposal of before is about it.
    const isUncovered = inbound + waiting + pooled + amount < 0n;
    if (isUncovered) await saveAccounts(tx, [{ ...account, toAdopt: 0n, movedNumber: filedNumber }]);
  });
}
