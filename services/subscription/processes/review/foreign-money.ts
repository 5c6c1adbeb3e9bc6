import assert from "node:assert/strict";
import { formatAmount, usd } from "#kernel/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { adoptForeign } from "../../domain/adopt-foreign.ts";
import type { AccountBook, SeatBook } from "../../domain/books.ts";
import { changeAccount, changeSeat } from "../../domain/places.ts";
import { lockBooks, lockPools, saveAccounts } from "../../store/books.ts";
import { insertFlows } from "../../store/flows.ts";
import { acknowledgeForeign, acknowledgeQuarantine } from "../../store/foreign-money.ts";
import { lockMaster } from "../../store/masters.ts";
import { findStanding } from "../../store/standings.ts";
import { saveSeats } from "../../store/seats.ts";
import type { Effect } from "./effect.ts";

/** Begin the subjects of cases about foreign money on an Investor in a pool, and on a Master; the login follows. */
export const ON_INVESTOR = "quarantine:";
export const ON_MASTER = "foreign:";

const NOTHING_TO_ASK = { readsOf: () => [], examine: () => undefined };

/** Foreign money on an Investor becomes a deposit or a withdrawal of that Investor, and is mirrored like one. */
export const adopt: Effect = {
  ...NOTHING_TO_ASK,
  async carryOut(tx, deps, { about, wanted }) {
    const { account, seat } = await lockInvestor(tx, about);
    const adopted = adoptForeign(account.places, seat.places);
    if (adopted === undefined) {
      const pooled = formatAmount(usd(seat.places.pooled));
      throw actionNotPossible(`The amount withdrawn exceeds the Investor's share of the pool, ${pooled}.`);
    }
    const { change, flow, unredeemed } = adopted;
    await saveAccounts(tx, [{ ...account, places: changeAccount(account.places, change) }]);
    const places = changeSeat(seat.places, change);
    await saveSeats(tx, [{ ...seat, places, unredeemed: seat.unredeemed + unredeemed }]);
    await insertFlows(tx, [{ subscriptionId: seat.subscriptionId, amount: flow }], wanted.at);
    afterCommit(tx, deps.bells.mirrors.ring);
    afterCommit(tx, deps.bells.strikes.ring);
  },
};

/** Foreign money stays what it is, and is not asked about again. */
export const acknowledge: Effect = {
  ...NOTHING_TO_ASK,
  async carryOut(tx, _deps, { about }) {
    if (about.subject.startsWith(ON_INVESTOR)) {
      const { account } = await lockInvestor(tx, about);
      return await acknowledgeQuarantine(tx, account.login, account.places.quarantined);
    }
    const [pool] = await lockPools(tx, [about.login]);
    assert(pool !== undefined);
    expectSame(about, pool.foreign);
    await acknowledgeForeign(tx, about.login, pool.foreign);
  },
};

async function lockInvestor(
  tx: Transaction,
  about: ReviewCase,
): Promise<{ readonly account: AccountBook; readonly seat: SeatBook }> {
  const { login } = about;
  const { seat: standing } = await findStanding(tx, login);
  const master = standing && (await lockMaster(tx, standing.masterLogin));
  const books = await lockBooks(tx, { investorLogins: [login], masterLogins: [], keys: [] });
  const account = books.accounts.get(login);
  const seat = account?.pooledIn === undefined ? undefined : books.seats.get(account.pooledIn);
  if (account === undefined || seat === undefined || seat.masterLogin !== master?.login) {
    throw actionNotPossible("The Investor is no longer in this pool.");
  }
  // Who is deciding to leave counts with what stands where now.
  if (!master.hasOpenGate) throw actionNotPossible("An Investor is leaving this pool. Retry shortly.");
  expectSame(about, account.places.quarantined);
  return { account, seat };
}

/** What was decided is about exactly this amount. */
export function expectSame({ amount }: ReviewCase, found: bigint): void {
  if (amount === found) return;
  throw actionNotPossible(`The amount is now ${formatAmount(usd(found))}. Read the review again before deciding.`);
}
