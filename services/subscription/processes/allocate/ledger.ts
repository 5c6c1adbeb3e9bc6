import type { Deps } from "../../deps.ts";
import { type Advance, advancePool, nextCutOff, type PoolState, type Reading } from "../../domain/advance-pool.ts";
import type { Arrival } from "../../domain/arrival.ts";
import type { AccountBook } from "../../domain/books.ts";
import type { Correction } from "../../domain/correct-pool.ts";
import type { MasterDeal } from "../../domain/master-deal.ts";
import { chainValuations, type DayPart, partsOf, type Valuation } from "../../domain/performance.ts";
import { checkPool } from "../../domain/pool/check-pool.ts";
import { poolEquity } from "../../domain/pool/equity.ts";
import { inPart } from "../../domain/pool/others.ts";
import { type Mark, strikePool, valuePositions } from "../../domain/pool/strike-pool.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { allHoldings } from "../../domain/pool/units.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { UTC } from "#kernel/time-zone.ts";
import { deleteArrivals, listArrivals } from "../../store/arrivals.ts";
import { lockAccounts } from "../../store/books.ts";
import { findLastPart, savePerformance } from "../../store/performance.ts";
import { scheduleValuation } from "../../store/marking.ts";
import { hasProgress, type Master, saveProgress } from "../../store/masters.ts";
import { endPriceWait } from "../../store/market-waits.ts";
import { listWaitingDeals, markDealsAllocated } from "../../store/results.ts";
import { listActiveHoldings, lockFlows, lockUnitPool, saveUnitPool } from "../../store/unit-pools.ts";
import { logDeficit, recordEvents } from "./record-events.ts";
import { valuationsOf, valuationsOfMarks } from "./valuations.ts";
import { stopForError } from "../review/record-stops.ts";

/** The pool of a Master under the lock of this transaction, with the changes that are not saved yet. */
export type Ledger = {
  /** The Master as it was locked. */
  readonly opened: Master;
  readonly master: Master;
  readonly stored: UnitPool;
  readonly pool: UnitPool;
  /** Arrivals that wait for units, and the ids of those that have received them. */
  readonly arrivals: readonly Arrival[];
  readonly admitted: readonly bigint[];
  /** Log position of the last deal allocated in this transaction; -1 without one. */
  readonly allocatedThrough: bigint;
  /** Sum of the results allocated in this transaction, in cents. */
  readonly allocated: bigint;
  /** The last part of a day of its performance as each result and each mark has left it, in their order. */
  readonly chain: readonly (DayPart | undefined)[];
  /** The pool was valued at its marks. */
  readonly isValued: boolean;
};

export type LedgerScope = {
  /** Deals up to this log position of the Master. */
  readonly through: bigint;
  /** The Master as it was read at that log position; without it no week is closed. */
  readonly reading: Reading | undefined;
  /** Accounts to lock besides those of the pool. */
  readonly logins?: readonly string[];
  /** The caller only strikes the pool or values it: when nothing else changes a flat pool, only its holdings with flows are loaded, and these ones. */
  readonly isForStrike?: boolean;
  readonly subscriptionIds?: readonly bigint[];
  /** How the results of a lost time are divided. */
  readonly correction?: Correction | undefined;
  /** Only the next week is closed. */
  readonly isForWeek?: boolean;
};

/** An opened pool, and the accounts of `logins` as they are then. */
type Opened = { readonly ledger: Ledger; readonly accounts: readonly AccountBook[]; readonly end: Advance["end"] };

const VALUED_IN_DEFICIT_EVERY_MS = 10_000;
/** Limits how long other transactions wait for the locks of one commit: it is short in a small pool. */
const ROWS_PER_COMMIT = 3_000;
/**
 * Deals of one commit in a larger pool, whose holdings and accounts are read and written for each commit, and the rows for which
 * its memory suffices.
 */
const DEALS_OF_A_LARGE_POOL = 5;
const MAX_ROWS_PER_COMMIT = 50_000;
const DEALS_PER_COMMIT = 500;
/** Marks at a log position need the results realised since, so more deals are read than one commit allocates. */
const DEALS_OF_A_READING = 10_000;

/**
 * Locks a pool, allocates its waiting deals and records the result of each. Lock order: the caller has locked the Master;
 * the accounts of all Investors in the pool follow, then the holdings.
 */
export async function openLedger(
  tx: Transaction,
  deps: Deps,
  master: Master,
  { through, reading, logins = [], isForStrike = false, subscriptionIds = [], ...scope }: LedgerScope,
): Promise<Opened> {
  const { login } = master;
  const limit = reading === undefined ? DEALS_PER_COMMIT : DEALS_OF_A_READING;
  const deals = await listWaitingDeals(tx, login, { through, limit });
  const sharing = deals.length === 0 ? undefined : await listActiveHoldings(tx, login);
  const locked = await lockAccounts(tx, [...logins, ...(sharing ?? []).map(({ investorLogin }) => investorLogin)]);
  const isInPart = isForStrike && deals.length === 0 && isFlat(reading) && !isWeekDue(deps, master, reading);
  const state = await lockPoolState(tx, master, () =>
    isInPart ? lockFlows(tx, master, subscriptionIds) : lockUnitPool(tx, master),
  );
  const isAll = deals.length < limit;
  const { pool: stored } = state;
  const advance = advancePool(state, deals, {
    week: deps.week,
    reading,
    beyond: isAll ? undefined : await listBeyond(tx, login, { deals, pool: stored, through, reading }),
    arePositionsKnown: master.arePositionsKnown,
    acceptedDealsNumber: master.acceptedDealsNumber,
    maxEvents: scope.isForWeek === true ? 1 : eventsPerCommit(stored.holdings.length),
    correction: scope.correction,
  });
  const { events } = advance;
  const active = sharing ?? (events.length === 0 ? [] : await listActiveHoldings(tx, login));
  const valuations = valuationsOf(events);
  const chain = await chained(tx, deps, { login, chain: [] }, valuations);
  const recorded = events.length === 0 ? {} : await recordEvents(tx, deps, { master, active, chain }, events);
  const last = deals[advance.taken - 1];
  if (last !== undefined) await markDealsAllocated(tx, login, last.number, deps.now());
  if (advance.stopped !== undefined) {
    const dealId = deals[advance.taken]?.dealId;
    await stopForError(tx, deps, advance.stopped.error, {
      login,
      account: login,
      ticket: dealId ?? master.filedDealId,
      dealId: dealId ?? 0n,
      isWaitingDeal: dealId !== undefined,
    });
  }
  const { pool, arrivals } = advance.state;
  // A recorded result changes what is not posted.
  const accounts = events.length === 0 ? locked : await lockAccounts(tx, logins);
  const allocated = deals.slice(0, advance.taken).reduce((total, { amount }) => total + amount, 0n);
  const admitted = idsWithout(state.arrivals, arrivals);
  const now = { ...master, ...recorded, ...progressOf(advance) };
  return {
    ledger: {
      opened: master,
      master: now,
      stored,
      pool,
      arrivals,
      admitted,
      allocatedThrough: last?.number ?? -1n,
      allocated,
      chain,
      isValued: false,
    },
    accounts,
    end: advance.end,
  };
}

/** No position is open, as far as the platform shows. */
function isFlat(reading: Reading | undefined): reading is Reading {
  return reading?.marks.length === 0;
}

function isWeekDue({ week }: Deps, { weeksClosedThrough }: Master, { closeThrough }: Reading): boolean {
  return nextCutOff({ weeksClosedThrough: weeksClosedThrough ?? undefined }, week, closeThrough) !== undefined;
}

function eventsPerCommit(holdings: number): number {
  const rows = Math.min(MAX_ROWS_PER_COMMIT, Math.max(ROWS_PER_COMMIT, DEALS_OF_A_LARGE_POOL * holdings));
  return Math.max(1, Math.floor(rows / Math.max(1, holdings)));
}

/** Deals after the read ones that change their open positions: with them the weeks of a long backlog can be closed. */
async function listBeyond(
  tx: Transaction,
  login: string,
  { deals, pool, through, reading }: LedgerScope & { readonly deals: readonly MasterDeal[]; readonly pool: UnitPool },
): Promise<MasterDeal[]> {
  if (reading === undefined) return [];
  const positionIds = new Set([...pool.positions, ...deals].map(({ positionId }) => positionId));
  const after = deals.at(-1)?.number ?? through;
  return await listWaitingDeals(tx, login, { after, through, positionIds: [...positionIds] });
}

export async function lockPoolState(
  tx: Transaction,
  master: Master,
  lock: () => Promise<UnitPool> = () => lockUnitPool(tx, master),
): Promise<PoolState> {
  const { login, struckDealId, weeksClosedThrough } = master;
  const pool = await lock();
  const waiting = allHoldings(pool).filter((holding) => holding.waiting > 0n || holding.unredeemed > 0n);
  const arrivals = await listArrivals(
    tx,
    login,
    waiting.map(({ subscriptionId }) => subscriptionId),
  );
  return { pool, arrivals, struckDealId, weeksClosedThrough: weeksClosedThrough ?? undefined };
}

function progressOf({ state }: Advance): Pick<Master, "weeksClosedThrough" | "struckDealId"> {
  return { weeksClosedThrough: state.weeksClosedThrough ?? null, struckDealId: state.struckDealId };
}

function idsWithout(all: readonly Arrival[], left: readonly Arrival[]): bigint[] {
  const waiting = new Set(left.map(({ id }) => id));
  return all.map(({ id }) => id).filter((id) => !waiting.has(id));
}

export function hasSomethingToStrike({ pool }: Ledger): boolean {
  return allHoldings(pool).some(({ waiting, unredeemed }) => waiting !== 0n || unredeemed !== 0n);
}

/**
 * Issues units for waiting money and redeems units of outflows, at the marks of the log position of the ledger. Undefined
 * when the pool fails its checks: then the Master is stopped.
 */
export async function strikeLedger(
  tx: Transaction,
  deps: Deps,
  opened: Ledger,
  marks: readonly Mark[],
): Promise<Ledger | undefined> {
  const { master } = opened;
  let ledger = opened;
  let pool: UnitPool;
  try {
    const struck = inPart(() => strikePool(ledger.pool, marks));
    if (struck === undefined) ledger = await withWholePool(tx, ledger);
    pool = struck ?? strikePool(ledger.pool, marks);
    checkPool(pool);
  } catch (error) {
    const { login, filedDealId: ticket } = master;
    await stopForError(tx, deps, error, { login, ticket, account: login, dealId: 0n, isWaitingDeal: false });
    return undefined;
  }
  if (master.waitsForPrice) await endPriceWait(tx, master.login);
  const holdings = new Map(allHoldings(pool).map((holding) => [holding.subscriptionId, holding]));
  const arrivals = ledger.arrivals.filter(({ subscriptionId, amount }) => {
    const { waiting = 0n, unredeemed = 0n } = holdings.get(subscriptionId) ?? {};
    return (amount > 0n ? waiting : unredeemed) > 0n;
  });
  const valued = await valueLedger(tx, deps, ledger, marks);
  return {
    ...valued,
    pool,
    arrivals,
    admitted: [...ledger.admitted, ...idsWithout(ledger.arrivals, arrivals)],
    master: {
      ...master,
      isInDeficit: followDeficit(tx, deps, master, pool),
      struckDealId: master.filedDealId,
      arePositionsKnown: true,
    },
  };
}

/** Of a ledger with a part of its pool, which has not changed yet. */
async function withWholePool(tx: Transaction, ledger: Ledger): Promise<Ledger> {
  const { pool, arrivals } = await lockPoolState(tx, ledger.opened);
  return { ...ledger, stored: pool, pool, arrivals };
}

/**
 * Values the pool at the marks of the log position of the ledger. Only its track record changes, and whether it is in deficit: no units, and no
 * share of what floats.
 */
export async function valueLedger(
  tx: Transaction,
  deps: Deps,
  ledger: Ledger,
  marks: readonly Mark[],
): Promise<Ledger> {
  const { master, pool } = ledger;
  const valuations = valuationsOfMarks(pool, marks, { at: deps.now(), dealId: master.filedDealId });
  const valued = valuePositions(pool, marks);
  return {
    ...ledger,
    pool: valued,
    master: { ...master, isInDeficit: followDeficit(tx, deps, master, valued) },
    isValued: true,
    chain: await chained(tx, deps, { login: master.login, chain: ledger.chain }, valuations),
  };
}

/** Whether the pool is in deficit at the marks of now. */
function followDeficit(tx: Transaction, { log, wakeSignals }: Deps, master: Master, pool: UnitPool): boolean {
  const isInDeficit = poolEquity(pool) < 0n;
  if (isInDeficit && !master.isInDeficit) logDeficit(tx, log, { login: master.login, dealId: master.filedDealId });
  if (!isInDeficit && master.isInDeficit) afterCommit(tx, wakeSignals.mirrors.notify);
  return isInDeficit;
}

type Chained = { readonly login: string; readonly chain: Ledger["chain"] };

/** The chain of the pool's values with further valuations. */
export async function chained(
  tx: Transaction,
  deps: Deps,
  { login, chain }: Chained,
  valuations: readonly Valuation[],
) {
  if (valuations.length === 0) return chain;
  const last = chain.findLast((part) => part !== undefined) ?? (await findLastPart(tx, login));
  return [...chain, ...chainValuations(last, valuations, deps.serverDays ?? UTC)];
}

/** Writes what has changed. Must run in the transaction that opened the ledger. */
export async function saveLedger(tx: Transaction, deps: Deps, ledger: Ledger): Promise<void> {
  const { opened, master, stored, pool, admitted, allocated, chain, isValued } = ledger;
  await saveUnitPool(tx, master.login, { before: stored, after: pool });
  // The deals of a flat Master admit money without a strike at marks.
  if (opened.waitsForPrice && !hasSomethingToStrike(ledger)) await endPriceWait(tx, master.login);
  await deleteArrivals(tx, admitted);
  if (allocated !== 0n || hasProgress(opened, master)) await saveProgress(tx, { ...master, allocated });
  await savePerformance(tx, master.login, partsOf(chain));
  const isOpen = pool.positions.length > 0;
  const isFallen = master.isInDeficit && !opened.isInDeficit;
  if (isOpen !== opened.isValued || (isOpen && (isValued || isFallen))) {
    await scheduleValuation(tx, master.login, isOpen ? nextValuation(deps, ledger) : undefined);
    if (isOpen && isFallen) afterCommit(tx, deps.wakeSignals.valuations.notify);
  }
}

/** In deficit by earlier marks, the pool is valued at once: what floats now may cover it. While it lasts, inflows wait for each valuation. */
function nextValuation({ valuedEveryMs }: Deps, { master, isValued }: Ledger): number {
  if (!master.isInDeficit) return valuedEveryMs;
  return isValued ? Math.min(valuedEveryMs, VALUED_IN_DEFICIT_EVERY_MS) : 0;
}
