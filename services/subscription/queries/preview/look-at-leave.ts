import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import { Refusal } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { IntendedWithdrawal } from "#proto/pamm/platform/v1/platform.ts";
import type { LeaveFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import {
  decideLeave,
  type DueFee,
  type LeaveDecision,
  type LeaveFacts,
  type LeaveKind,
  openClaims,
} from "../../domain/decide-leave.ts";
import { type ExitedBuckets, afterExit } from "../../domain/leave-buckets.ts";
import { feeNotReady, leaveReasons, type MasterFacts, masterUnreadable } from "../../domain/leave-reasons.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { listTakenFees } from "../../store/fees.ts";
import { findInvestorState } from "../../store/investor-states.ts";
import { findLeaveBooks, type LeaveBooks, type PooledBooks } from "../../store/leave-facts.ts";
import { type AccountFacts, previewLock } from "./preview-lock.ts";
import { oneOfEachCode } from "./until-passed.ts";

export type WantedLeave = {
  readonly investorLogin: string;
  readonly kind: LeaveKind;
  /** In cents; 0 for an exit. */
  readonly requested: bigint;
  readonly withdrawal?: IntendedWithdrawal;
  /** The answer to the caller for a refused account lock. */
  readonly refusalOfLock: (refusal: Refusal) => Refusal;
};

export type LeavePreview = {
  readonly reasons: readonly Refusal[];
  readonly isPooled: boolean;
  /** Undefined while the account or its fee cannot be read. */
  readonly decided: { readonly decision: LeaveDecision; readonly exited: ExitedBuckets | undefined } | undefined;
};

/** The transfer of the payout, which is only recorded by a command. */
const PAYOUT = "preview:payout";

/**
 * What a leave would come to now: the facts of `reachDecision` read without a lock, a gate and a row, and decided by the same rules. The
 * books come last, so that a movement between the readings shows as one that is not filed, never as agreement.
 */
export async function lookAtLeave(deps: Deps, wanted: WantedLeave, context: CallContext): Promise<LeavePreview> {
  const { investorLogin, withdrawal } = wanted;
  const { holding: before } = await findInvestorState(deps.pool, investorLogin);
  const [lock, reading] = await Promise.all([
    previewLock(deps, { login: investorLogin, withdrawal, acceptsArchived: wanted.kind === "EXIT" }, context),
    before && readMaster(deps, before.masterLogin, context),
  ]);
  const books = await inSnapshot(deps.pool, (db) => findLeaveBooks(db, investorLogin));
  const holding = books?.holding;
  const fee = await previewFee(deps, investorLogin, holding, context);
  const account = books && lock.facts && { filedNumber: books.filedNumber, heldNumber: lock.facts.logNumber };
  const known = { pool: holding, inbound: holding?.buckets.inbound ?? 0n };
  const reasons = [
    ...lock.refusals.map(wanted.refusalOfLock),
    ...leaveReasons(account === undefined ? known : { ...known, account }),
    ...fee.reasons,
    ...(holding === undefined
      ? []
      : pooledReasons(deps, holding, before?.masterLogin === holding.masterLogin && reading)),
  ];
  const isRead = account !== undefined && account.filedNumber === account.heldNumber;
  const decided = books && lock.facts && fee.due && isRead ? { ...books, due: fee.due, facts: lock.facts } : undefined;
  return {
    reasons: oneOfEachCode(reasons),
    isPooled: holding !== undefined,
    decided: decided && (await decide(deps, wanted, decided)),
  };
}

type Reading = MasterFacts & { readonly logNumber: bigint };

/** False when the Master cannot be read. */
async function readMaster({ platform }: Deps, login: string, context: CallContext): Promise<Reading | false> {
  try {
    const { complete, positions, logNumber } = await platform.readAccount({ login }, queryContext(context));
    return { isComplete: complete, openPositions: positions.length, logNumber };
  } catch (error) {
    if (error instanceof Refusal || isTransientFailure(error)) return false;
    throw error;
  }
}

/** A pool strikes what waits for units before the decision. */
function pooledReasons(deps: Deps, holding: PooledBooks, master: Reading | false | undefined): readonly Refusal[] {
  const share = { isMoving: false, pooled: struck(holding).pooled };
  if (master === false || master === undefined) return [masterUnreadable(), ...leaveReasons({ share })];
  return leaveReasons({ master, isAllocated: isAllocated(deps, holding, master.logNumber), share });
}

function isAllocated({ week, now }: Deps, holding: PooledBooks, logNumber: bigint): boolean {
  const { masterNumber, hasWaitingDeals, hasOpenGate, weeksClosedThrough } = holding;
  const areWeeksClosed = weeksClosedThrough === null || weeksClosedThrough >= lastCutOff(week, now());
  return masterNumber === logNumber && !hasWaitingDeals && hasOpenGate && areWeeksClosed;
}

function struck({ buckets }: PooledBooks): PooledBooks["buckets"] {
  return { ...buckets, waiting: 0n, pooled: buckets.pooled + buckets.waiting };
}

type FeePreview = { readonly reasons: readonly Refusal[]; readonly due: readonly DueFee[] | undefined };

async function previewFee(
  { fees, now }: Deps,
  investorLogin: string,
  holding: PooledBooks | undefined,
  context: CallContext,
): Promise<FeePreview> {
  const { masterLogin = "", lastAllocation: throughNumber = 0n } = holding ?? {};
  try {
    const request = { investorLogin, masterLogin, throughNumber, at: now() };
    const { items } = await fees.previewCrystallise(request, queryContext(context));
    const due = items.map(({ key, amount, isWeekly }) => ({ key, amount: moneyFromProto(amount).minor, isWeekly }));
    return { reasons: [], due };
  } catch (error) {
    const isRefusal = error instanceof Refusal;
    if (isRefusal && error.code === "safety_stop") {
      return { reasons: [safetyStop(masterLogin, "stopped")], due: undefined };
    }
    if (isRefusal || isTransientFailure(error)) return { reasons: [feeNotReady()], due: undefined };
    throw error;
  }
}

type Decided = LeaveBooks & { readonly due: readonly DueFee[]; readonly facts: AccountFacts };

async function decide(
  { pool }: Deps,
  { kind, requested }: WantedLeave,
  { due, reserves, facts, unposted, quarantined, holding }: Decided,
) {
  const taken = await listTakenFees(
    pool,
    due.map(({ key }) => key),
  );
  const buckets = holding && struck(holding);
  const leave: LeaveFacts = {
    kind,
    requested,
    held: facts.balance,
    unposted,
    quarantined,
    pooled: buckets?.pooled ?? 0n,
    ...openClaims({ due, reserves, taken }),
  };
  const decision = decideLeave(leave, PAYOUT);
  return { decision, exited: kind === "EXIT" && buckets !== undefined ? afterExit(buckets, decision) : undefined };
}

export function figuresOf({ decided }: Pick<LeavePreview, "decided">): LeaveFigures | undefined {
  if (decided === undefined) return undefined;
  const { before, pending, available, effective } = decided.decision.numbers;
  return {
    balanceBefore: moneyToProto(usd(before)),
    pendingFee: moneyToProto(usd(pending)),
    availableAfterFee: moneyToProto(usd(available)),
    effective: moneyToProto(usd(decided.exited?.amount ?? effective)),
  };
}
