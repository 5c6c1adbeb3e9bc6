import assert from "node:assert/strict";
import { formatAmount, formatMinor, usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { noteAmount } from "#kernel/review/cases.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { AccountBook, HoldingBook, PoolBook } from "../../domain/books.ts";
import { lockPools } from "../../store/books.ts";
import { acknowledgeExternal, acknowledgeQuarantine } from "../../store/external-funds.ts";
import { acknowledgeUnexplained } from "../../store/lost-results.ts";
import { LOST_RESULTS } from "./lost-results.ts";
import { adoptExternalFunds, lockPooled } from "../adopt-external-funds.ts";
import { adoptExternal, undecidedOf } from "../../domain/quarantine.ts";
import type { Effect } from "./read-accounts.ts";

/** Prefixes of the subjects of cases about external funds on an Investor in a pool and on a Master, before the login. */
export const ON_INVESTOR = "quarantine:";
export const ON_MASTER = "external:";

const NO_READING = { readsOf: () => [], examine: () => undefined };

/** External funds on an Investor become a deposit or withdrawal of that Investor, and are mirrored like one. */
export const adopt: Effect = {
  ...NO_READING,
  async propose(tx, { reviewCase }) {
    const found = await lockPooled(tx, reviewCase.login);
    if (found === undefined) return;
    const { account, holding } = found;
    const amount = undecidedOf(account);
    if (adoptExternal(amount, holding.buckets) === undefined) throw notCovered(amount, holding);
  },
  async carryOut(tx, deps, { reviewCase, wanted }) {
    const books = await lockInvestor(tx, reviewCase);
    const amount = undecidedOf(books.account);
    if (!(await adoptExternalFunds(tx, deps, { ...books, amount, at: wanted.at }))) {
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
  ...NO_READING,
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

async function lockInvestor(
  tx: Transaction,
  reviewCase: ReviewCase,
): Promise<{ readonly account: AccountBook; readonly holding: HoldingBook }> {
  const found = await lockPooled(tx, reviewCase.login);
  if (found === undefined) throw actionNotPossible("The Investor is no longer in this pool.");
  const { account, holding } = found;
  const undecided = undecidedOf(account);
  if (!isUpTo(reviewCase, account.movedNumber) || undecided === 0n) throw changed(undecided);
  await noteAmount(tx, reviewCase.id, undecided);
  return { account, holding };
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
