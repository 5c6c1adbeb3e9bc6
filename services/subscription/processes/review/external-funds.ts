import assert from "node:assert/strict";
import { formatAmount, usd } from "#kernel/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { abs } from "#kernel/reconcile/check.ts";
import { noteAmount } from "#kernel/review/cases.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { adoptExternal } from "../../domain/adopt-external.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import { changeAccount, changeHolding } from "../../domain/buckets.ts";
import { lockBooks, lockPools, saveAccounts } from "../../store/books.ts";
import { insertFlows } from "../../store/flows.ts";
import { acknowledgeExternal, acknowledgeQuarantine } from "../../store/external-funds.ts";
import { lockMaster } from "../../store/masters.ts";
import { findInvestorState } from "../../store/investor-states.ts";
import { saveHoldings } from "../../store/holdings.ts";
import type { Effect } from "./effect.ts";

/** Prefixes of the subjects of cases about external funds on an Investor in a pool and on a Master, before the login. */
export const ON_INVESTOR = "quarantine:";
export const ON_MASTER = "external:";

const NO_READING = { readsOf: () => [], examine: () => undefined };

/** External funds on an Investor become a deposit or withdrawal of that Investor, and are mirrored like one. */
export const adopt: Effect = {
  ...NO_READING,
  async carryOut(tx, deps, { reviewCase, wanted }) {
    const { account, holding } = await lockInvestor(tx, reviewCase);
    const adopted = adoptExternal(account.buckets, holding.buckets);
    if (adopted === undefined) {
      const pooled = formatAmount(usd(holding.buckets.pooled));
      throw actionNotPossible(`The amount withdrawn exceeds the Investor's share of the pool, ${pooled}.`);
    }
    const { change, flow, unredeemed } = adopted;
    await saveAccounts(tx, [{ ...account, buckets: changeAccount(account.buckets, change) }]);
    const buckets = changeHolding(holding.buckets, change);
    await saveHoldings(tx, [{ ...holding, buckets, unredeemed: holding.unredeemed + unredeemed }]);
    await insertFlows(tx, [{ subscriptionId: holding.subscriptionId, amount: flow }], wanted.at);
    afterCommit(tx, deps.wakeSignals.mirrors.notify);
    afterCommit(tx, deps.wakeSignals.strikes.notify);
    afterCommit(tx, deps.wakeSignals.external.notify);
  },
};

/** External funds of an Investor stay external, those of a Master are its own capital; no further review is opened about them. */
export const acknowledge: Effect = {
  ...NO_READING,
  async carryOut(tx, _deps, { reviewCase }) {
    if (reviewCase.subject.startsWith(ON_INVESTOR)) {
      const { account } = await lockInvestor(tx, reviewCase);
      return await acknowledgeQuarantine(tx, account.login);
    }
    const [pool] = await lockPools(tx, [reviewCase.login]);
    assert(pool !== undefined);
    expectSame(reviewCase, pool.external);
    await acknowledgeExternal(tx, reviewCase.login, pool.external);
  },
};

async function lockInvestor(
  tx: Transaction,
  reviewCase: ReviewCase,
): Promise<{ readonly account: AccountBook; readonly holding: HoldingBook }> {
  const { login } = reviewCase;
  const { holding: investorState } = await findInvestorState(tx, login);
  const master = investorState && (await lockMaster(tx, investorState.masterLogin));
  const books = await lockBooks(tx, { investorLogins: [login], masterLogins: [] });
  const account = books.accounts.get(login);
  const holding = account?.pooledIn === undefined ? undefined : books.holdings.get(account.pooledIn);
  if (account === undefined || holding === undefined || holding.masterLogin !== master?.login) {
    throw actionNotPossible("The Investor is no longer in this pool.");
  }
  // A leave that is being decided counts with the present buckets.
  if (!master.hasOpenGate) {
    throw actionNotPossible(
      "An Investor is leaving this pool, which takes seconds. Nothing was changed. Propose it again in a second.",
    );
  }
  const { quarantined } = account.buckets;
  if (!isProposedFor(reviewCase, { amount: quarantined, movedNumber: account.movedNumber })) throw changed(quarantined);
  await noteAmount(tx, reviewCase.id, quarantined);
  return { account, holding };
}

/** A proposal about an Investor's account holds up to this multiple of its amount. */
const MAX_GROWTH = 2n;

/**
 * Whether a proposal about an Investor's account holds for what is there now: its own trades may have changed the amount, otherwise no
 * proposal would outlive a deal. Money that another party has moved, another sign and a larger multiple need another proposal.
 */
export function isProposedFor(
  { amount, evidence }: ReviewCase,
  now: { readonly amount: bigint; readonly movedNumber: bigint },
): boolean {
  const before = amount ?? 0n;
  const isSameSign = before * now.amount > 0n;
  return isUpTo({ evidence }, now.movedNumber) && isSameSign && abs(now.amount) <= MAX_GROWTH * abs(before);
}

/** The decision is about exactly the movements of the review. */
export function expectMoved(
  reviewCase: ReviewCase,
  { external, number }: { readonly external: bigint; readonly number: bigint },
): void {
  if (reviewCase.amount !== external || !isUpTo(reviewCase, number)) throw changed(external);
}

/** The review knows all movements of the account up to this log position. */
export function isUpTo({ evidence }: Pick<ReviewCase, "evidence">, number: bigint): boolean {
  const { moved_log_number: known } = JSON.parse(evidence) as { readonly moved_log_number?: string };
  return known === String(number);
}

/** The decision is about exactly the amount of the review. */
export function expectSame({ amount }: ReviewCase, found: bigint): void {
  if (amount !== found) throw changed(found);
}

function changed(found: bigint): Refusal {
  return actionNotPossible(`The amount is now ${formatAmount(usd(found))}. Read the review again before deciding.`);
}
