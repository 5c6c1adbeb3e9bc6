import { setTimeout as pause } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext, REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { EMPTY_POOL } from "../domain/pool/unit-pool.ts";
import { allocationInProgress } from "../domain/departure-reasons.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { type MasterReading, masterReading } from "../messages/marks.ts";
import { type BookedHolding, findInvestorState, type InvestorState } from "../store/investor-states.ts";
import { readMarks } from "../store/pool-marks.ts";
import { listWaitingDeals } from "../store/results.ts";
import { getPoolSums } from "../store/unit-pools.ts";
import { floatingBefore, type HoldingValue, type PoolSums, valueHolding } from "../domain/holding-value.ts";

/** Between two readings of a Master that trades, or whose deals are not in the books yet. */
const PAUSE_MS = 100;
/** A decision is waited for while the call lasts; for what an Investor owns, a few readings, with time left to read the balance. */
const MAX_READS = 5;
const BALANCE_MS = 1_000;
/** A longer backlog is of a Master that is stopped; then its positions say little about what an Investor owns. */
const MAX_UNALLOCATED = 10_000;

export type Wanted = {
  readonly investorLogin: string;
  /**
   * A fee is decided on allocated results alone: a stopped Master is refused, a flat one is not read, and deals that wait are waited for.
   * What an Investor owns is asked at any time, so deals that wait count by what they have realised.
   */
  readonly isDecision: boolean;
};

export type HoldingNow = BookedHolding &
  HoldingValue & {
    readonly sums: PoolSums;
    readonly openPositions: number;
    /** When the positions were read; undefined when nothing had to be. */
    readonly markedAt: Date | undefined;
  };

/** `holding` is undefined outside a pool. */
type ValuedBooks = { readonly account: InvestorState; readonly holding: HoldingNow | undefined };

export type InvestorNow<T> = ValuedBooks & { readonly at: Date; readonly extra: T };

/** What else is read on the snapshot of the books; undefined when it has to be read again. */
type ReadExtra<T> = (db: Queryable, books: ValuedBooks & { readonly at: Date }) => Promise<T | undefined>;

/**
 * An Investor's holding at one log position of its Master: the books, valued with the positions that the trading platform shows at the
 * same position. A Master that trades meanwhile is read again. Locks and changes nothing.
 */
export async function readHoldingNow<T>(
  deps: Deps,
  wanted: Wanted,
  readExtra: ReadExtra<T>,
  context: CallContext,
): Promise<InvestorNow<T>> {
  const [maxReads, reserveMs] = wanted.isDecision ? [Infinity, REPLY_RESERVE_MS] : [MAX_READS, BALANCE_MS];
  for (let reads = 1; ; reads += 1) {
    const at = deps.now();
    const master = await findMaster(deps, wanted);
    const reading =
      master && !(wanted.isDecision && master.isFlat)
        ? await readPositions(deps, master.masterLogin, context)
        : undefined;
    const now = await inSnapshot(deps.pool, async (db) => {
      const books = await valueAt(db, wanted, { masterLogin: master?.masterLogin, reading });
      const extra = books && (await readExtra(db, { ...books, at }));
      return books && extra && { ...books, at, extra };
    });
    if (now !== undefined) return now;
    if (reads >= maxReads || remainingMs(context) < reserveMs + PAUSE_MS) throw notYet(master);
    await pause(PAUSE_MS);
  }
}

/** Undefined outside a pool. */
async function findMaster({ pool }: Deps, { investorLogin, isDecision }: Wanted): Promise<BookedHolding | undefined> {
  const { holding: booked } = await findInvestorState(pool, investorLogin);
  if (isDecision && booked?.isStopped === true) throw safetyStop(booked.masterLogin, "stopped");
  return booked;
}

export async function readPositions(
  { platform, now }: Deps,
  login: string,
  context: CallContext,
): Promise<MasterReading> {
  const requestedAt = now();
  const answer = await failAsUnavailable(() => platform.readAccount({ login }, queryContext(context)));
  return masterReading(login, answer, { requestedAt, arePricesChecked: false });
}

type ReadMaster = { readonly masterLogin: string | undefined; readonly reading: MasterReading | undefined };

/** Undefined when the books are not at the log position of the reading: the Master has traded, or is still being filed. */
async function valueAt(
  db: Queryable,
  { investorLogin, isDecision }: Wanted,
  { masterLogin, reading }: ReadMaster,
): Promise<ValuedBooks | undefined> {
  const account = await findInvestorState(db, investorLogin);
  const booked = account.holding;
  if (booked?.masterLogin !== masterLogin) return undefined;
  if (booked === undefined || masterLogin === undefined) return { account, holding: undefined };
  if (reading === undefined && !booked.isFlat) return undefined;
  if (reading !== undefined && (!reading.isComplete || booked.masterNumber !== reading.logNumber)) return undefined;
  // A flat Master was not read: its last allocation is the state that a decision is about.
  const most = isDecision ? 0 : MAX_UNALLOCATED;
  const waiting = reading === undefined ? [] : await listWaitingDeals(db, masterLogin, { limit: most + 1 });
  if (waiting.length > most) return undefined;
  const marks = reading?.marks ?? [];
  const { positions, accruals } = await readMarks(db, masterLogin, booked.subscriptionId);
  const sums = await getPoolSums(db, masterLogin);
  const results = floatingBefore({ ...EMPTY_POOL, positions }, marks, waiting);
  const value = valueHolding({ holding: booked, positions, accruals, sums }, results);
  const markedAt = positions.length === 0 ? undefined : reading?.requestedAt;
  return { account, holding: { ...booked, ...value, sums, openPositions: marks.length, markedAt } };
}

function notYet(master: BookedHolding | undefined): Error {
  const behind =
    master === undefined
      ? "Fees are not recorded"
      : `The latest deals of Master ${master.masterLogin} are not allocated to its Investors`;
  return allocationInProgress(`${behind} yet, which takes seconds. Send the request again in a second.`);
}
