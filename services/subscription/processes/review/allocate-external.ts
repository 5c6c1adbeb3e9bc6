import assert from "node:assert/strict";
import { formatAmount, usd } from "#kernel/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingFlow, MasterEntry } from "../../domain/books.ts";
import { changeAccount } from "../../domain/buckets.ts";
import { type AllocatedPart, divideRepair } from "../../domain/divide-repair.ts";
import { checkPool } from "../../domain/pool/check-pool.ts";
import { poolEquity, valueOfUnits } from "../../domain/pool/equity.ts";
import { giveResult, moveLater, type Worth } from "../../domain/pool/give-result.ts";
import { E8_PER_CENT, type UnitHolding, type UnitPool } from "../../domain/pool/unit-pool.ts";
import { allHoldings, indexOfHolding, totalUnits } from "../../domain/pool/units.ts";
import { insertEntries, insertRows } from "../../store/allocations.ts";
import { insertArrivals, insertOwnArrivals } from "../../store/arrivals.ts";
import { saveAccounts } from "../../store/books.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { insertFlows } from "../../store/flows.ts";
import { changeHoldings, lockHoldings } from "../../store/holdings.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { addUnposted } from "../../store/postings.ts";
import {
  type AllocatedDeal,
  findAllocatedDeal,
  getMoved,
  listInvestorsOf,
  takeFromMoved,
} from "../../store/repairs.ts";
import { listActiveHoldings, readUnitHoldings } from "../../store/unit-pools.ts";
import { chained, type Ledger, openLedger, saveLedger } from "../allocate/ledger.ts";
import { expectMoved, noteOwnCapital } from "./external-funds.ts";
import type { Effect, Wanted } from "./read-accounts.ts";

/**
 * Money that others have moved on a Master, and that no operator has decided about, is a result of its pool: of the deal that it repairs, by the
 * units and at the time of that deal, or of the moment of the decision. When own capital has nothing else, what the money has earned since goes
 * with it. When no movement is undecided, own capital itself is given: what it lacks, or results of which it is all that is left.
 */
export const allocateExternal: Effect = {
  readsOf: () => [],
  examine: () => undefined,
  async propose(tx, { reviewCase, wanted }) {
    const { login } = reviewCase;
    const repaired = await findRepaired(tx, login, wanted.dealId);
    if (repaired === undefined) expectSharing(await readUnitHoldings(tx, login), reviewCase.amount ?? 0n);
  },
  async carryOut(tx, deps, { reviewCase, wanted }) {
    const { login } = reviewCase;
    const repaired = await findRepaired(tx, login, wanted.dealId);
    const master = await lockMaster(tx, login);
    const pooled = await listActiveHoldings(tx, login);
    const sharing = (repaired?.rows ?? []).map(({ subscriptionId }) => subscriptionId);
    const logins = [...pooled.map(({ investorLogin }) => investorLogin), ...(await listInvestorsOf(tx, sharing))];
    const { ledger, accounts } = await allocateDeals(tx, deps, master, logins);
    const moved = await getMoved(tx, login);
    const undecided = expectMoved(reviewCase, moved);
    const { own } = ledger.pool;
    const earned = moved.acknowledged === undefined || moved.acknowledged === 0n ? moved.earned : 0n;
    const amount = undecided === 0n ? own.pooled + own.waiting : undecided + earned;
    if (amount === 0n) throw actionNotPossible("There is no money to allocate.");
    if (undecided === 0n) await noteOwnCapital(tx, reviewCase, amount);
    const shared = repaired === undefined ? shareNow(ledger.pool, amount) : shareThen(ledger.pool, repaired, amount);
    // It would end nothing: all of it stays with own capital, and under review.
    if (shared.given === 0n && (undecided === 0n || shared.unpaid !== 0n)) throw noneHasPart(amount);
    const entry = { number: ledger.master.filedNumber, dealId: ledger.master.filedDealId };
    const source = undecided === 0n ? entry : moved;
    await record(tx, deps, { reviewCase, wanted, ledger, shared, repaired, source, entry, undecided });
    const loginOf = new Map(pooled.map(({ subscriptionId, investorLogin }) => [subscriptionId, investorLogin]));
    await addUnposted(
      tx,
      shared.parts.map((part) => ({ ...part, investorLogin: loginOf.get(part.subscriptionId) ?? "" })),
    );
    await payLeft(tx, accounts, shared.left, wanted.at);
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

/** The pool with all deals allocated that are in its books. */
async function allocateDeals(tx: Transaction, deps: Deps, master: Master | undefined, logins: readonly string[]) {
  if (master === undefined || master.stoppedReason !== null) {
    throw actionNotPossible("The Master is stopped. Decide that review first.");
  }
  const opened = await openLedger(tx, deps, master, { through: master.filedNumber, reading: undefined, logins });
  if (opened.end !== "done") {
    throw actionNotPossible(
      "Results of this Master are being allocated, which takes seconds. Nothing was changed. Propose it again in a second.",
    );
  }
  return opened;
}

type Part = { readonly subscriptionId: bigint; readonly amount: bigint };

type Shared = {
  readonly after: UnitPool;
  /** Those by which it is shared: of now without those of the money that is given. */
  readonly poolUnits: bigint;
  readonly worth: Worth;
  /** Of the Investors in the pool. */
  readonly parts: readonly Part[];
  /** Of those who have left it. */
  readonly left: readonly Part[];
  /** What those who have left would have to give back: it stays with own capital, and under review. */
  readonly unpaid: bigint;
  /** What own capital has given, signed. */
  readonly given: bigint;
};

function noneHasPart(amount: bigint): Refusal {
  const money = formatAmount(usd(amount));
  return actionNotPossible(
    amount > 0n
      ? `No Investor of this pool has a part of ${money} now. Name the ticket of the deal that it repairs as deal_id, or acknowledge it.`
      : `No Investor of this pool has a part of ${money} now, and who has left gives nothing back. Name the ticket of the deal that it belongs to as deal_id, or have it paid in on the Master.`,
  );
}

/** A pool in deficit has no units. */
function expectSharing(holdings: readonly UnitHolding[], amount: bigint): void {
  if (totalUnits(holdings) === 0n) throw noneHasPart(amount);
}

function shareNow(pool: UnitPool, amount: bigint): Shared {
  const result = giveResult(pool, amount);
  if (result === undefined) throw noneHasPart(amount);
  const { pool: after, ...shared } = result;
  return { ...shared, after, left: [], unpaid: 0n };
}

/** By the units of the deal that is repaired. Who has left the pool gets the part outside of it, and gives nothing back. */
function shareThen(pool: UnitPool, repaired: AllocatedDeal, amount: bigint): Shared {
  const { parts: all } = divideRepair(repaired, amount);
  const isIn = ({ subscriptionId }: Part): boolean => indexOfHolding(pool.holdings, subscriptionId) !== undefined;
  const parts = all.filter(isIn);
  const gone = all.filter((part) => !isIn(part));
  const left = gone.filter((part) => part.amount > 0n);
  const unpaid = sumOf(gone.filter((part) => part.amount < 0n));
  const given = sumOf(parts) + sumOf(left);
  const amounts = new Map(parts.map((part) => [part.subscriptionId, part.amount]));
  const holdings = pool.holdings.map((holding) => moveLater(holding, amounts.get(holding.subscriptionId) ?? 0n));
  const after = { ...pool, holdings, own: moveLater(pool.own, -given) };
  // The money that is given has earned nothing yet: it is no capital of those who share the repair.
  const before = valueOfUnits(pool) - (given > 0n && pool.own.units > 0n ? given * E8_PER_CENT : 0n);
  const worth = { before, after: before + sumOf(parts) * E8_PER_CENT };
  return { after, poolUnits: repaired.poolUnits, worth, parts, left, unpaid, given };
}

type Decided = {
  readonly reviewCase: ReviewCase;
  readonly wanted: Wanted;
  readonly ledger: Ledger;
  readonly shared: Shared;
  readonly repaired: AllocatedDeal | undefined;
  /** The last movement that is allocated, and the last entry that is filed; the same for own capital without such a movement. */
  readonly source: MasterEntry;
  readonly entry: MasterEntry;
  readonly undecided: bigint;
};

async function record(tx: Transaction, deps: Deps, decided: Decided): Promise<void> {
  const { reviewCase, wanted, ledger, shared, repaired, source, entry, undecided } = decided;
  const { login, id: caseId } = reviewCase;
  const { after, poolUnits, worth, parts, left, unpaid, given } = shared;
  checkPool(after);
  const number = ledger.master.lastAllocation + 1n;
  const dealAt = repaired?.dealAt ?? wanted.at;
  const dealId = repaired === undefined ? source.dealId : wanted.dealId;
  const amount = undecided === 0n ? 0n : undecided - unpaid;
  const valuation = {
    at: deps.now(),
    dealId: ledger.master.filedDealId,
    ...worth,
    units: totalUnits(allHoldings(after)),
    isOpen: after.positions.length > 0,
    result: sumOf(parts),
  };
  const chain = await chained(tx, deps, { login, chain: ledger.chain }, [valuation]);
  const result = {
    logNumber: source.number,
    dealId,
    dealAt,
    amount,
    own: amount - given,
    raised: 0n,
    elsewhere: 0n,
    caseId,
  };
  await insertEntries(tx, login, [{ number, poolUnits, result, week: undefined, valued: chain.at(-1) }], deps.now());
  const unitsThen = new Map(repaired?.rows.map((row: AllocatedPart) => [row.subscriptionId, row.units]));
  await insertRows(
    tx,
    login,
    [...parts, ...left].map((part) => {
      const holding = after.holdings[indexOfHolding(after.holdings, part.subscriptionId) ?? -1];
      const { pooled = 0n, waiting = 0n, carry = 0n, units = 0n } = holding ?? {};
      const owned = { pooled: pooled + waiting, carry, units: unitsThen.get(part.subscriptionId) ?? units };
      return { ...part, ...owned, number, floating: 0n };
    }),
  );
  await takeFromMoved(tx, login, amount);
  if (given !== 0n) await insertOwnArrivals(tx, [{ masterLogin: login, amount: -given, entry }]);
  await insertArrivals(
    tx,
    parts.filter((part) => part.amount > 0n),
  );
  const isInDeficit = poolEquity(after) < 0n;
  await saveLedger(tx, deps, {
    ...ledger,
    pool: after,
    master: { ...ledger.master, lastAllocation: number, isInDeficit },
    chain,
  });
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
  const byLogin = new Map(accounts.map((account) => [account.login, account]));
  const pooledIn = accounts.flatMap((account) => account.pooledIn ?? []);
  const holdings = await lockHoldings(tx, [...left.map(({ subscriptionId }) => subscriptionId), ...pooledIn]);
  const loginOf = new Map(holdings.map(({ subscriptionId, investorLogin }) => [subscriptionId, investorLogin]));
  const paid = new Map<string, AccountBook>();
  const flows: HoldingFlow[] = [];
  for (const { subscriptionId, amount } of left) {
    const login = loginOf.get(subscriptionId) ?? "";
    const account = paid.get(login) ?? byLogin.get(login);
    assert(account !== undefined, "the accounts of all parts are locked");
    const { pooledIn: present } = account;
    if (present !== undefined) flows.push({ subscriptionId: present, amount });
    const gained = present === undefined ? { outside: amount, unposted: amount } : { unposted: amount };
    paid.set(login, { ...account, buckets: changeAccount(account.buckets, gained) });
  }
  await saveAccounts(tx, [...paid.values()]);
  await changeHoldings(tx, [
    ...left.map(({ subscriptionId, amount }) => ({ subscriptionId, outbound: amount })),
    ...flows.map(({ subscriptionId, amount }) => ({ subscriptionId, inbound: amount })),
  ]);
  await insertFlows(tx, flows, at);
  await insertExitTransfers(tx, left, at);
}

function sumOf(parts: readonly Part[]): bigint {
  return parts.reduce((sum, { amount }) => sum + amount, 0n);
}
