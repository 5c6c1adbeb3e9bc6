import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type { IntendedWithdrawal } from "#proto/pamm/platform/v1/platform.ts";
import type { DepartureFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import type { DepartureDecision, DepartureKind } from "../../domain/decide-departure.ts";
import { feeNotReady, departureReasons, masterUnreadable } from "../../domain/departure-reasons.ts";
import { refusalOfLock } from "../../domain/lock-refusals.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { type AskedTerms, askTerms } from "../../fees/ask-terms.ts";
import { decideAmounts, dueOfDeparture, inflowsOnly } from "../../fees/due-of-departure.ts";
import { type BookedHolding, findInvestorState, type InvestorState } from "../../store/investor-states.ts";
import type { MasterReading } from "../../messages/marks.ts";
import { decideNow, type DueNow, readDueNow } from "../due-now.ts";
import { readPositions } from "../holding-now.ts";
import { type AccountFacts, oneOfEachCode, previewLock } from "./facts.ts";
import { changeHolding, type HoldingBuckets, takenOut } from "../../domain/buckets.ts";
import { departureFigures } from "../../messages/subscription.ts";

export type WantedDeparture = {
  readonly investorLogin: string;
  readonly kind: DepartureKind;
  /** In cents; 0 for an exit. */
  readonly requested: bigint;
  readonly withdrawal?: IntendedWithdrawal;
};

export type DeparturePreview = {
  readonly reasons: readonly Refusal[];
  readonly isPooled: boolean;
  /** Undefined while the account or its fee cannot be read. */
  readonly decided: DecidedNow | undefined;
};

type DecidedNow = {
  readonly decision: DepartureDecision;
  /** What an exit would make of its holding. */
  readonly exited: HoldingBuckets | undefined;
};

/** In place of the id of a command: nothing has it. */
const PREVIEW = "preview";

/**
 * What a departure would come to now: the facts of the command read without a lock and a row, and decided by the same functions. The books come
 * last, on one snapshot, so that a movement between the readings shows as one that is not filed, never as agreement.
 */
export async function lookAtDeparture(
  deps: Deps,
  wanted: WantedDeparture,
  context: CallContext,
): Promise<DeparturePreview> {
  const { investorLogin, withdrawal, kind } = wanted;
  const { holding: before } = await findInvestorState(deps.pool, investorLogin);
  const masterLogin = before?.masterLogin ?? "";
  const [lock, reading, asked] = await Promise.all([
    previewLock(deps, { login: investorLogin, withdrawal, acceptsArchived: kind === "EXIT" }, context),
    masterLogin === "" ? undefined : ifAnswered(readPositions(deps, masterLogin, context)),
    ifAnswered(askTerms(deps, { masterLogin, investorLogins: [investorLogin] }, queryContext(context))),
  ]);
  const { books, fee, decided } = await inSnapshot(deps.pool, (db) =>
    readDeparture(db, deps, wanted, { account: lock.facts, asked, context }),
  );
  const { filedNumber, holding } = books;
  const account = filedNumber < 0n ? undefined : lock.facts && { filedNumber, heldNumber: lock.facts.logNumber };
  const known = { pool: holding, inbound: holding?.inbound ?? 0n };
  const reasons = [
    // The caller of a withdrawal acquires the account lock, so the refusals of the lock are those of platform.
    ...(kind === "EXIT" ? lock.refusals.map(refusalOfLock) : lock.refusals),
    ...departureReasons(account === undefined ? known : { ...known, account }),
    ...(fee instanceof Refusal ? [fee] : []),
    ...(holding === undefined ? [] : pooledReasons(deps, holding, masterLogin === holding.masterLogin && reading)),
  ];
  const isRead = account !== undefined && account.filedNumber === account.heldNumber;
  return {
    reasons: oneOfEachCode(reasons),
    isPooled: holding !== undefined,
    decided: isRead ? decided : undefined,
  };
}

type Asked = {
  /** Undefined while the account cannot be read. */
  readonly account: AccountFacts | undefined;
  /** Undefined while `fee` does not answer. */
  readonly asked: AskedTerms | undefined;
  readonly context: CallContext;
};

type ReadDeparture = Pick<DeparturePreview, "decided"> & {
  /** As the departure takes them. */
  readonly books: InvestorState;
  readonly fee: DueNow | Refusal;
};

async function readDeparture(
  db: Queryable,
  { now }: Deps,
  wanted: WantedDeparture,
  { account, asked, context }: Asked,
): Promise<ReadDeparture> {
  const { investorLogin, kind } = wanted;
  const { books, waits } = await readBooks(db, wanted);
  const { holding } = books;
  const pool = holding && { ...holding, floating: 0n, markedAt: undefined };
  const fee = await readFee(db, { investorLogin, pool, asked, now: now() }, context);
  if (account === undefined || fee instanceof Refusal) return { books, fee, decided: undefined };
  const { unposted, quarantined } = books;
  const departure = { ...wanted, operationId: PREVIEW };
  const due = dueOfDeparture(departure, decideNow(fee), fee.facts);
  const buckets = holding && struck(holding);
  const whole = { held: account.balance, unposted, quarantined, pooled: buckets?.pooled ?? 0n };
  const amounts = waits === undefined ? whole : inflowsOnly(waits);
  const [decision] = await decideAmounts(db, [{ departure, due, amounts }]);
  assert(decision !== undefined);
  const exited = kind === "EXIT" ? buckets && changeHolding(buckets, takenOut(kind, decision)) : undefined;
  return { books, fee, decided: { decision, exited } };
}

type WantedFee = Omit<Parameters<typeof readDueNow>[1], "asked"> & Pick<Asked, "asked">;

async function readFee(
  db: Queryable,
  { asked, pool, ...wanted }: WantedFee,
  context: CallContext,
): Promise<DueNow | Refusal> {
  if (asked === undefined) return feeNotReady();
  if (pool !== undefined && asked.isStopped) return safetyStop(pool.masterLogin, "stopped");
  return (await readDueNow(db, { asked, pool, ...wanted }, context)) ?? feeNotReady();
}

/** `waits`: inflows that wait for the end of a deficit. As a command takes them, a withdrawal takes nothing else, and an exit takes them back. */
async function readBooks(
  db: Queryable,
  { investorLogin, kind }: WantedDeparture,
): Promise<{ readonly books: InvestorState; readonly waits?: bigint }> {
  const books = await findInvestorState(db, investorLogin);
  const { holding } = books;
  if (holding?.isHeld !== true) return { books };
  if (kind === "WITHDRAWAL") return { books: { ...books, holding: undefined }, waits: holding.inbound };
  return { books: { ...books, holding: { ...holding, inbound: 0n } } };
}

/** Undefined when a service cannot answer now. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal || isTransientFailure(error)) return undefined;
    throw error;
  }
}

/** A pool strikes what waits for units before the decision. */
function pooledReasons(
  deps: Deps,
  holding: BookedHolding,
  reading: MasterReading | false | undefined,
): readonly Refusal[] {
  const share = { isMoving: false, pooled: struck(holding).pooled };
  if (reading === false || reading === undefined) return [masterUnreadable(), ...departureReasons({ share })];
  const { isComplete, marks, logNumber } = reading;
  const master = { isComplete, openPositions: marks.length };
  return departureReasons({ master, isAllocated: isAllocated(deps, holding, logNumber), share });
}

function isAllocated({ week, now }: Deps, holding: BookedHolding, logNumber: bigint): boolean {
  const { masterNumber, hasWaitingDeals, weeksClosedThrough } = holding;
  const areWeeksClosed = weeksClosedThrough === null || weeksClosedThrough >= lastCutOff(week, now());
  return masterNumber === logNumber && !hasWaitingDeals && areWeeksClosed;
}

function struck({ pooled, waiting, ...holding }: BookedHolding): HoldingBuckets {
  return { ...holding, waiting: 0n, pooled: pooled + waiting };
}

export function figuresOf({ decided }: Pick<DeparturePreview, "decided">): DepartureFigures | undefined {
  return decided && departureFigures(decided.decision.numbers);
}
