import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { adoptExternal } from "../domain/adopt-external.ts";
import type { AccountBook, HoldingBook } from "../domain/books.ts";
import { changeAccount, changeHolding } from "../domain/buckets.ts";
import { undecidedOf } from "../domain/quarantine.ts";
import { lockBooks, saveAccounts } from "../store/books.ts";
import { insertFlows } from "../store/flows.ts";
import { saveHoldings } from "../store/holdings.ts";
import { findInvestorState } from "../store/investor-states.ts";
import { lockMaster, type Master } from "../store/masters.ts";

export type Pooled = { readonly master: Master; readonly account: AccountBook; readonly holding: HoldingBook };

/** The Investor with the pool that it is in, locked; undefined outside a pool. */
export async function lockPooled(tx: Transaction, login: string): Promise<Pooled | undefined> {
  const { holding: investorState } = await findInvestorState(tx, login);
  const master = investorState && (await lockMaster(tx, investorState.masterLogin));
  const books = await lockBooks(tx, { investorLogins: [login], masterLogins: [] });
  const account = books.accounts.get(login);
  const holding = account?.pooledIn === undefined ? undefined : books.holdings.get(account.pooledIn);
  if (account === undefined || holding === undefined || holding.masterLogin !== master?.login) return undefined;
  return { master, account, holding };
}

type Adopted = {
  readonly account: AccountBook;
  readonly holding: HoldingBook;
  /** A part of the quarantine of the account, signed. */
  readonly amount: bigint;
  readonly at: Date;
};

/** False, and nothing is changed, when more was taken than the Investor has in the pool. */
export async function adoptExternalFunds(
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
  const buckets = changeHolding(holding.buckets, change);
  await saveHoldings(tx, [{ ...holding, buckets, unredeemed: holding.unredeemed + unredeemed }]);
  if (flow !== 0n) await insertFlows(tx, [{ subscriptionId: holding.subscriptionId, amount: flow }], at);
  for (const { notify } of [deps.wakeSignals.mirrors, deps.wakeSignals.strikes, deps.wakeSignals.external]) {
    afterCommit(tx, notify);
  }
  return true;
}
