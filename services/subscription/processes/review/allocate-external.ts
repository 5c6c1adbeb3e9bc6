import assert from "node:assert/strict";
import { formatAmount, usd } from "#kernel/values/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingFlow } from "../../domain/books.ts";
import { changeAccount } from "../../domain/buckets.ts";
import { divideRepair } from "../../domain/divide-repair.ts";
import { checkPool } from "../../domain/pool/check-pool.ts";
import { poolEquity, valueOfUnits } from "../../domain/pool/equity.ts";
import { type GivenResult, giveResult, moveLater } from "../../domain/pool/give-result.ts";
import { sumOf } from "../../domain/pool/rounding.ts";
import { E8_PER_CENT, type Part, type UnitPool } from "../../domain/pool/unit-pool.ts";
import { allHoldings, indexOfHolding, totalUnits } from "../../domain/pool/units.ts";
import { insertEntries, insertRows, type NewResult } from "../../store/allocations.ts";
import { insertArrivals, insertOwnArrivals } from "../../store/arrivals.ts";
import { saveAccounts } from "../../store/books.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { insertFlows } from "../../store/flows.ts";
import { changeHoldings, lockHoldings } from "../../store/holdings.ts";
import { lockMaster } from "../../store/masters.ts";
import { addUnposted } from "../../store/postings.ts";
import {
  type AllocatedDeal,
  findAllocatedDeal,
  getMoved,
  listInvestorsOf,
  takeFromMoved,
} from "../../store/repairs.ts";
import { listActiveHoldings, readUnitHoldings } from "../../store/unit-pools.ts";
import { type Ledger, openLedger, saveLedger } from "../allocate/ledger.ts";
import { chained } from "../allocate/record-events.ts";
import { expectMoved, noteOwnCapital } from "./external-funds.ts";
import type { Effect } from "./read-accounts.ts";

/**
 * Money that others have moved on a Master, and that no operator has decided about, is a result of its pool: of the deal that it repairs, by the
 * units and at the time of that deal, or of the moment of the decision. When own capital has nothing else, what the money has earned since goes
 * with it. When no movement is undecided, own capital itself is given: what it lacks, or results of which it is all that is left.
 */
export const allocateExternal: Effect = {
  async examine(tx, { reviewCase: { login, amount }, dealId }) {
    const repaired = await findRepaired(tx, login, dealId);
    // A pool in deficit has no units.
    const isShared = repaired !== undefined || totalUnits(await readUnitHoldings(tx, login)) > 0n;
    if (!isShared) throw noneHasPart(amount ?? 0n);
  },
  async carryOut(tx, deps, { reviewCase, dealId, at }) {
    const { login, id: caseId } = reviewCase;
    const repaired = await findRepaired(tx, login, dealId);
    const master = await lockMaster(tx, login);
    if (master === undefined || master.stoppedReason !== null) {
      throw actionNotPossible("The Master is stopped. Decide that review first.");
    }
    const pooled = await listActiveHoldings(tx, login);
    const sharing = (repaired?.rows ?? []).map(({ subscriptionId }) => subscriptionId);
    const logins = [...pooled.map(({ investorLogin }) => investorLogin), ...(await listInvestorsOf(tx, sharing))];
    const { ledger, accounts, end } = await openLedger(tx, deps, master, { logins });
    if (end !== "done") {
      throw actionNotPossible(
        "Results of this Master are being allocated, which takes seconds. Nothing was changed. Propose it again in a second.",
      );
    }
    const moved = await getMoved(tx, login);
    const undecided = expectMoved(reviewCase, moved);
    const { own } = ledger.pool;
    const earned = moved.acknowledged === undefined || moved.acknowledged === 0n ? moved.earned : 0n;
    const amount = undecided === 0n ? own.pooled + own.waiting : undecided + earned;
    if (amount === 0n) throw actionNotPossible("There is no money to allocate.");
    if (undecided === 0n) await noteOwnCapital(tx, reviewCase, amount);
    const shared = repaired === undefined ? shareNow(ledger.pool, amount) : shareThen(ledger.pool, repaired, amount);
    const { left, given, unpaid } = shared;
    // It would end nothing: all of it stays with own capital, and under review.
    if (given === 0n && (undecided === 0n || unpaid !== 0n)) throw noneHasPart(amount);
    const entry = { number: master.filedNumber, dealId: master.filedDealId };
    // The last movement that is allocated; of own capital without one, the last entry that is filed.
    const source = undecided === 0n ? entry : moved;
    const taken = undecided === 0n ? 0n : undecided - unpaid;
    await takeFromMoved(tx, login, taken);
    if (given !== 0n) await insertOwnArrivals(tx, [{ masterLogin: login, amount: -given, entry }]);
    const deal = repaired === undefined ? { dealId: source.dealId, dealAt: at } : { dealId, dealAt: repaired.dealAt };
    const amounts = { amount: taken, own: taken - given, raised: 0n, elsewhere: 0n };
    await record(tx, deps, ledger, {
      shared,
      repaired,
      result: { logNumber: source.number, ...deal, ...amounts, caseId },
    });
    await payLeft(tx, accounts, left, at);
    await addUnposted(tx, [...shared.parts, ...left]);
    const { postings, strikes, mirrors, exits, external } = deps.wakeSignals;
    for (const wakeSignal of [postings, strikes, mirrors, exits, external]) afterCommit(tx, wakeSignal.notify);
  },
};

/** Undefined when no deal is named. */
async function findRepaired(tx: Transaction, login: string, dealId: bigint): Promise<AllocatedDeal | undefined> {
  if (dealId === 0n) return undefined;
  const deal = await findAllocatedDeal(tx, login, dealId);
  if (deal === undefined) {
    throw actionNotPossible(
      `Deal ${dealId} is no result of Master ${login} that was allocated. Name the ticket of a result of this Master, or none.`,
    );
  }
  if (deal.rows.every(({ units }) => units === 0n)) {
    throw actionNotPossible(`In deal ${dealId} no Investor had a share. Name another deal, or none.`);
  }
  return deal;
}

/** Its `parts` are those of the Investors in the pool. */
type Shared = GivenResult & {
  /** Of those who have left it. */
  readonly left: readonly Part[];
  /** What those who have left would have to give back: it stays with own capital, and under review. */
  readonly unpaid: bigint;
};

function noneHasPart(amount: bigint): Refusal {
  const money = formatAmount(usd(amount));
  return actionNotPossible(
    amount > 0n
      ? `No Investor of this pool has a part of ${money} now. Name the ticket of the deal that it repairs as deal_id, or acknowledge it.`
      : `No Investor of this pool has a part of ${money} now, and who has left gives nothing back. Name the ticket of the deal that it belongs to as deal_id, or have it paid in on the Master.`,
  );
}

function shareNow(pool: UnitPool, amount: bigint): Shared {
  const result = giveResult(pool, amount);
  if (result === undefined) throw noneHasPart(amount);
  return { ...result, left: [], unpaid: 0n };
}

/** By the units of the deal that is repaired. Who has left the pool gets the part outside of it, and gives nothing back. */
function shareThen(pool: UnitPool, repaired: AllocatedDeal, amount: bigint): Shared {
  const { parts: all } = divideRepair(repaired, amount);
  const isIn = ({ subscriptionId }: Part): boolean => indexOfHolding(pool.holdings, subscriptionId) !== undefined;
  const parts = all.filter(isIn);
  const gone = all.filter((part) => !isIn(part));
  const left = gone.filter((part) => part.amount > 0n);
  const unpaid = total(gone) - total(left);
  const given = total(parts) + total(left);
  const amounts = new Map(parts.map((part) => [part.subscriptionId, part.amount]));
  const holdings = pool.holdings.map((holding) => moveLater(holding, amounts.get(holding.subscriptionId) ?? 0n));
  const after = { ...pool, holdings, own: moveLater(pool.own, -given) };
  // The money that is given has earned nothing yet: it is no capital of those who share the repair.
  const before = valueOfUnits(pool) - (given > 0n && pool.own.units > 0n ? given * E8_PER_CENT : 0n);
  const worth = { before, after: before + total(parts) * E8_PER_CENT };
  return { pool: after, poolUnits: repaired.poolUnits, worth, parts, left, unpaid, given };
}

type Recorded = {
  readonly shared: Shared;
  readonly repaired: AllocatedDeal | undefined;
  readonly result: NewResult;
};

async function record(
  tx: Transaction,
  deps: Deps,
  ledger: Ledger,
  { shared, repaired, result }: Recorded,
): Promise<void> {
  const { login, lastAllocation, filedDealId: dealId } = ledger.master;
  const { pool, poolUnits, worth, parts, left } = shared;
  checkPool(pool);
  const number = lastAllocation + 1n;
  const units = totalUnits(allHoldings(pool));
  const isOpen = pool.positions.length > 0;
  const valuation = { at: deps.now(), dealId, ...worth, units, isOpen, result: total(parts) };
  const chain = await chained(tx, deps, ledger, [valuation]);
  await insertEntries(tx, login, [{ ...result, number, poolUnits, valued: chain.at(-1) }], deps.now());
  const unitsThen = new Map(repaired?.rows.map((row) => [row.subscriptionId, row.units]));
  await insertRows(
    tx,
    login,
    [...parts, ...left].map((part) => {
      const holding = pool.holdings[indexOfHolding(pool.holdings, part.subscriptionId) ?? -1];
      const { pooled = 0n, waiting = 0n, carry = 0n, units: unitsNow = 0n } = holding ?? {};
      const owned = { pooled: pooled + waiting, carry, units: unitsThen.get(part.subscriptionId) ?? unitsNow };
      return { ...part, ...owned, number, floating: 0n };
    }),
  );
  await insertArrivals(
    tx,
    parts.filter((part) => part.amount > 0n),
  );
  const master = { ...ledger.master, lastAllocation: number, isInDeficit: poolEquity(pool) < 0n };
  await saveLedger(tx, deps, { ...ledger, pool, master, chain });
}

/**
 * Who has left the pool gets the money on the account: it leaves the Master by a further exit transfer, and is posted. An Investor who is in a
 * pool again has it mirrored there, like a deposit.
 */
async function payLeft(
  tx: Transaction,
  accounts: readonly AccountBook[],
  left: readonly Part[],
  at: Date,
): Promise<void> {
  if (left.length === 0) return;
  const books = new Map(accounts.map((account) => [account.login, account]));
  const pooledIn = accounts.flatMap((account) => account.pooledIn ?? []);
  const holdings = await lockHoldings(tx, [...left.map(({ subscriptionId }) => subscriptionId), ...pooledIn]);
  const loginOf = new Map(holdings.map(({ subscriptionId, investorLogin }) => [subscriptionId, investorLogin]));
  const outside: AccountBook[] = [];
  const flows: HoldingFlow[] = [];
  // In one deal an Investor has a share by one subscription.
  for (const { subscriptionId, amount } of left) {
    const account = books.get(loginOf.get(subscriptionId) ?? "");
    assert(account !== undefined, "the accounts of all parts are locked");
    if (account.pooledIn !== undefined) flows.push({ subscriptionId: account.pooledIn, amount });
    else outside.push({ ...account, buckets: changeAccount(account.buckets, { outside: amount }) });
  }
  await saveAccounts(tx, outside);
  await changeHoldings(tx, [
    ...left.map(({ subscriptionId, amount }) => ({ subscriptionId, outbound: amount })),
    ...flows.map(({ subscriptionId, amount }) => ({ subscriptionId, inbound: amount })),
  ]);
  await insertFlows(tx, flows, at);
  await insertExitTransfers(tx, left, at);
}

function total(parts: readonly Part[]): bigint {
  return sumOf(parts.map(({ amount }) => amount));
}
