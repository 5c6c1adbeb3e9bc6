import type { Deps } from "../../deps.ts";
import {
  type Advance,
  advancePool,
  type Arrival,
  type Correction,
  type PoolState,
  type Reading,
} from "../../domain/advance-pool.ts";
import type { AccountBook } from "../../domain/books.ts";
import { partsOf, valuationsOfMarks } from "../../domain/performance.ts";
import { checkPool } from "../../domain/pool/check-pool.ts";
import { nextCutOff } from "../../domain/weeks.ts";
import { poolEquity } from "../../domain/pool/equity.ts";
import { inPart } from "../../domain/pool/others.ts";
import { type Mark, strikePool, valuePositions } from "../../domain/pool/strike-pool.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { allHoldings } from "../../domain/pool/units.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { deleteArrivals } from "../../store/arrivals.ts";
import { lockAccounts } from "../../store/books.ts";
import { savePerformance } from "../../store/performance.ts";
import { scheduleValuation } from "../../store/marking.ts";
import { hasProgress, type Master, saveProgress } from "../../store/masters.ts";
import { endPriceWait } from "../../store/market-waits.ts";
import { listWaitingDeals, markDealsAllocated } from "../../store/results.ts";
import { listActiveHoldings, lockPoolState, saveUnitPool } from "../../store/unit-pools.ts";
import { type Chain, chained, followDeficit, recordEvents } from "./record-events.ts";
import { stopForError } from "../review/record-stops.ts";

/** The pool of a Master under the lock of this transaction, with the changes that are not saved yet. */
export type Ledger = {
  /** The Master and its pool as they were locked. */
  readonly opened: Master;
  readonly stored: PoolState;
  readonly master: Master;
  readonly pool: UnitPool;
  /** Arrivals that wait for units. */
  readonly arrivals: readonly Arrival[];
  /** Log position of the last deal allocated in this transaction; -1 without one. */
  readonly allocatedThrough: bigint;
  readonly chain: Chain;
  /** The pool was valued at its marks. */
  readonly isValued: boolean;
};

export type LedgerScope = {
  /** Deals up to this log position of the Master; by default all that are filed. */
  readonly through?: bigint;
  /** The Master as it was read at that log position; without it no week is closed. */
  readonly reading?: Reading;
  /** Accounts to lock besides those of the pool. */
  readonly logins?: readonly string[];
  /** The caller only strikes the pool or values it: when nothing else changes a flat pool, only its holdings with flows are loaded, and these ones. */
  readonly isForStrike?: boolean;
  readonly subscriptionIds?: readonly bigint[];
  /** How the results of a lost time are divided. */
  readonly correction?: Correction;
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
  { through = master.filedNumber, reading, logins = [], isForStrike = false, ...scope }: LedgerScope = {},
): Promise<Opened> {
  const { login, arePositionsKnown, acceptedDealsNumber } = master;
  const limit = reading === undefined ? DEALS_PER_COMMIT : DEALS_OF_A_READING;
  const deals = await listWaitingDeals(tx, login, { through, limit });
  const sharing = deals.length === 0 ? [] : await listActiveHoldings(tx, login);
  const locked = await lockAccounts(tx, [...logins, ...sharing.map(({ investorLogin }) => investorLogin)]);
  const isUnchanged =
    deals.length === 0 && nextCutOff(deps.week, master.weeksClosedThrough, reading?.closeThrough) === undefined;
  const isInPart = isForStrike && isUnchanged && reading?.marks.length === 0;
  const stored = await lockPoolState(tx, master, isInPart ? (scope.subscriptionIds ?? []) : undefined);
  const { holdings, positions } = stored.pool;
  // Later deals that change the open positions: with them the weeks of a long backlog can be closed.
  const after = deals.at(-1)?.number ?? through;
  const positionIds = [...new Set([...positions, ...deals].map(({ positionId }) => positionId))];
  const listBeyond = () => reading && listWaitingDeals(tx, login, { after, through, positionIds });
  const advance = advancePool(stored, deals, {
    week: deps.week,
    reading,
    beyond: deals.length < limit ? undefined : ((await listBeyond()) ?? []),
    arePositionsKnown,
    acceptedDealsNumber,
    maxEvents: scope.isForWeek === true ? 1 : eventsPerCommit(holdings.length),
    correction: scope.correction,
  });
  const { events, stopped, end } = advance;
  const { pool, arrivals, weeksClosedThrough, struckDealId } = advance.state;
  const { chain, ...recorded } = await recordEvents(tx, deps, master, events);
  const last = deals[advance.taken - 1];
  if (last !== undefined) await markDealsAllocated(tx, login, last.number, deps.now());
  if (stopped !== undefined) {
    await stopForError(tx, deps, stopped.error, { ...master, waitingDealId: deals[advance.taken]?.dealId });
  }
  // A recorded result changes what is not posted.
  const accounts = events.length === 0 ? locked : await lockAccounts(tx, logins);
  return {
    ledger: {
      opened: master,
      stored,
      master: { ...master, ...recorded, weeksClosedThrough, struckDealId },
      pool,
      arrivals,
      allocatedThrough: last?.number ?? -1n,
      chain,
      isValued: false,
    },
    accounts,
    end,
  };
}

function eventsPerCommit(holdings: number): number {
  const rows = Math.min(MAX_ROWS_PER_COMMIT, Math.max(ROWS_PER_COMMIT, DEALS_OF_A_LARGE_POOL * holdings));
  return Math.max(1, Math.floor(rows / Math.max(1, holdings)));
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
    if (struck === undefined) {
      // A part of a pool has not changed yet.
      const stored = await lockPoolState(tx, opened.opened);
      ledger = { ...opened, stored, pool: stored.pool, arrivals: stored.arrivals };
    }
    pool = struck ?? strikePool(ledger.pool, marks);
    checkPool(pool);
  } catch (error) {
    await stopForError(tx, deps, error, master);
    return undefined;
  }
  if (master.waitsForPrice) await endPriceWait(tx, master.login);
  const holdings = new Map(allHoldings(pool).map((holding) => [holding.subscriptionId, holding]));
  const arrivals = ledger.arrivals.filter(({ subscriptionId, amount }) => {
    const { waiting = 0n, unredeemed = 0n } = holdings.get(subscriptionId) ?? {};
    return (amount > 0n ? waiting : unredeemed) > 0n;
  });
  const valued = await valueLedger(tx, deps, ledger, marks);
  const isInDeficit = followDeficit(tx, deps, valued.master, poolEquity(pool));
  const struck = { isInDeficit, struckDealId: master.filedDealId, arePositionsKnown: true };
  return { ...valued, pool, arrivals, master: { ...master, ...struck } };
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
    master: { ...master, isInDeficit: followDeficit(tx, deps, master, poolEquity(valued)) },
    isValued: true,
    chain: await chained(tx, deps, ledger, valuations),
  };
}

/** Writes what has changed. Must run in the transaction that opened the ledger. */
export async function saveLedger(tx: Transaction, deps: Deps, ledger: Ledger): Promise<void> {
  const { opened, master, stored, pool, chain, isValued } = ledger;
  await saveUnitPool(tx, master.login, { before: stored.pool, after: pool });
  // The deals of a flat Master admit money without a strike at marks.
  if (opened.waitsForPrice && !hasSomethingToStrike(ledger)) await endPriceWait(tx, master.login);
  const waiting = new Set(ledger.arrivals.map(({ id }) => id));
  const admitted = stored.arrivals.map(({ id }) => id).filter((id) => !waiting.has(id));
  await deleteArrivals(tx, admitted);
  if (hasProgress(opened, master)) await saveProgress(tx, master);
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
