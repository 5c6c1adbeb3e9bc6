import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { AccountBook, HoldingBook } from "../domain/books.ts";
import { changeAccount } from "../domain/buckets.ts";
import { lockBooks, saveAccounts } from "../store/books.ts";
import { insertFlows } from "../store/flows.ts";
import { changeHoldings } from "../store/holdings.ts";
import { findInvestorState } from "../store/investor-states.ts";
import { lockMaster, type Master } from "../store/masters.ts";
import { listToAdopt } from "../store/external-funds.ts";
import { adoptExternal, leaveToOperators, undecidedOf } from "../domain/quarantine.ts";

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
  await changeHoldings(tx, [{ subscriptionId: holding.subscriptionId, ...change, unredeemed }]);
  if (flow !== 0n) await insertFlows(tx, [{ subscriptionId: holding.subscriptionId, amount: flow }], at);
  for (const { notify } of [deps.wakeSignals.mirrors, deps.wakeSignals.strikes, deps.wakeSignals.external]) {
    afterCommit(tx, notify);
  }
  return true;
}

/** Logins that are read at once. */
const PAGE = 1_000;

/**
 * Adopts what the configuration lets be adopted without a review. It waits for a departure from the pool that is being decided, and for money on
 * its way into the pool that covers a charge, which take seconds each. Operators decide about a charge that the share does not cover.
 */
export async function adoptCharges(deps: Deps): Promise<void> {
  let after = "";
  for (;;) {
    const logins = await listToAdopt(deps.pool, after, PAGE);
    for (const login of logins) await adoptOn(deps, login);
    const last = logins.at(-1);
    if (last === undefined || logins.length < PAGE) return;
    after = last;
  }
}

async function adoptOn(deps: Deps, login: string): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    const found = await lockPooled(tx, login);
    if (found === undefined) return;
    const { holding } = found;
    const { toAdopt: amount } = found.account;
    if (amount === 0n) return;
    const account = { ...found.account, toAdopt: 0n };
    if (await adoptExternalFunds(tx, deps, { account, holding, amount, at: deps.now() })) return;
    const { inbound, waiting, pooled } = holding.buckets;
    if (inbound + waiting + pooled + amount < 0n) await saveAccounts(tx, [leaveToOperators(found.account)]);
  });
}
