import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { refusalFromProto } from "#kernel/contract/error.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { refusalOfTransfer } from "#catalogue/transfer-refusals.ts";
import { isTransientFailure, retryLevel } from "#kernel/jobs/transient-failure.ts";
import type { RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferAnswer, type TransferRequest, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { departureKey } from "../../domain/departure.ts";
import { type Departure, getDeparture } from "../../store/departures.ts";
import { type FeeDecision, findDecisionOf } from "../../store/fee-decisions.ts";
import { listFeeFloors } from "../../store/fees.ts";
import { recordFees } from "../fees/record-fees.ts";
import { end, outcomeUnknown, refuse, releaseAndEnd } from "./end.ts";
import { returnReserve } from "./return-reserve.ts";
import type { AccountLock } from "../account-lock.ts";
import { enqueueExit } from "../exit/send-exit.ts";
import { postUnderLock } from "../posting/send-postings.ts";

/** A departure after a turn. Of a decided one, `doubt` is why the outcome of its payout is not known. */
export type Completed = Departure & { readonly doubt?: "UNKNOWN" | "REVIEW" };

/**
 * `fees`: what was decided with it, null when nothing was; undefined when they are to be read, because another process has decided it.
 * `isPosted`: when it was decided, the results of the Investor were on its account.
 */
export type DepartureWithFees = Departure & { readonly fees?: FeeDecision | null; readonly isPosted?: boolean };

/** A platform replica that was killed is replaced within a second or two. */
const RETRY_PAUSE_MS = 200;
/** Shortest remaining wait budget that is worth another call. */
const MIN_CALL_MS = 1_500;
/** Code of platform: it was paid before the database was restored to an older time. */
const DUPLICATE = "possible_duplicate";
const LEFT_TO_JOB = new Set(["account_archived", "lock_not_owned"]);

/**
 * Completes a decided departure under its account lock: what an Investor takes out of the pool is to leave the Master, its results are posted, `fee`
 * records what was decided, and its fees are debited and a withdrawal paid out by one call. Safe to repeat until it has ended.
 */
export async function complete(deps: Deps, departure: DepartureWithFees, context: CallContext): Promise<Completed> {
  const { kind, investorLogin: login, lockOwner } = departure;
  assert(lockOwner !== null, "a decided departure has the account lock");
  if (kind === "EXIT") await enqueueExit(deps, departure, context);
  let debits: readonly TransferRequest[];
  try {
    const [isPosted, recorded] = await Promise.all([
      departure.isPosted === true || postUnderLock(deps, { login, lockOwner }, context),
      departure.fees === null ? undefined : recordDue(deps, departure, context),
    ]);
    if (!isPosted) throw outcomeUnknown(departure, "Trading results are still being posted.");
    if (recorded?.stopped === true) throw outcomeUnknown(departure, "Performance fees are suspended.");
    debits = await underFloor(deps, { login, lockOwner }, recorded?.transfers ?? []);
  } catch (error) {
    return await throwUnlessCompleted(deps, departure, error);
  }
  const answers = await sendChain(deps, [...debits, ...payoutOf(departure, lockOwner)], context);
  failpoint("after_chain", kind);
  const fees = debits.map(({ key }, index) => ({ key, answer: answers[index] }));
  const recording = reportFees(deps, fees, context);
  try {
    return await conclude(deps, departure, { fees, paid: answers[debits.length] }, context);
  } finally {
    await recording;
  }
}

/** Another process may have completed it: then its account lock is released. */
async function throwUnlessCompleted(deps: Deps, departure: Departure, error: unknown): Promise<Departure> {
  const present = await getDeparture(deps.pool, departure.operationId);
  if (present.state !== "DECIDED") return present;
  const level = error instanceof Refusal ? "info" : retryLevel(error);
  const key = departureKey(departure);
  deps.log[level]("fees of departure not collected, retry scheduled", { key, login: departure.investorLogin, error });
  throw outcomeUnknown(departure, "Performance fees are still being collected.");
}

/** The fees that were decided, as `fee` records them. What another departure or week has debited meanwhile is not among them. */
async function recordDue(
  deps: Deps,
  departure: DepartureWithFees,
  context: CallContext,
): Promise<RecordFeesResponse | undefined> {
  const fees = departure.fees ?? (await findDecisionOf(deps.pool, departureKey(departure)));
  return fees && (await recordFees(deps, fees, context));
}

/** Debits under the account lock. The floor is read after the results are posted and the fees recorded: a reserve that returns is money on its way, which no fee may take. */
async function underFloor(
  { pool }: Deps,
  { login, lockOwner }: AccountLock,
  transfers: readonly TransferRequest[],
): Promise<TransferRequest[]> {
  if (transfers.length === 0) return [];
  const [owned] = await listFeeFloors(pool, [login]);
  assert(owned !== undefined, "an account with a held log is filed");
  const upTo = { floor: moneyToProto(usd(owned.floor)), filedNumber: owned.filedNumber };
  return transfers.map((transfer) => ({ ...transfer, lockOwner, upTo }));
}

/** Of a withdrawal that pays something out. The last transfer of its saga releases the account lock. */
function payoutOf(departure: Departure, lockOwner: string): TransferRequest[] {
  const { kind, investorLogin: login, effective, comment } = departure;
  if (kind === "EXIT" || effective === null || effective === 0n) return [];
  const leg = { login, kind: MovementKind.WITHDRAWAL, amount: moneyToProto(usd(-effective)) };
  const own = { key: departureKey(departure), lockOwner, legs: [leg], comment };
  return [{ ...own, upTo: undefined, enqueue: false, sendBefore: undefined, releaseLock: true }];
}

/**
 * The answers for transfers, up to the first without an outcome. While the caller waits they are requested again after a lost answer: platform executes
 * a key once.
 */
async function sendChain(
  { platform }: Deps,
  requests: readonly TransferRequest[],
  context: CallContext,
): Promise<readonly TransferAnswer[]> {
  if (requests.length === 0) return [];
  for (let isLost = false; ; await sleep(RETRY_PAUSE_MS)) {
    const { answers, failure } = await tryChain(platform, requests, context);
    if (failure === undefined) return answers;
    // After a lost answer a later refusal does not prove that the first request was not recorded.
    if (failure.code === DUPLICATE && !isLost) return answers;
    if (!mayPass(failure) || remainingMs(context) < MIN_CALL_MS) return answers.slice(0, -1);
    isLost ||= failure.outcome !== "not_executed";
  }
}

/** `failure`: why the answers end, if that is no outcome of a transfer. */
async function tryChain(platform: Deps["platform"], requests: readonly TransferRequest[], context: CallContext) {
  try {
    const { answers } = await platform.transferChain({ requests: [...requests] }, withReplyReserve(context));
    const last = answers.at(-1)?.answer;
    const isFailure = last?.$case === "refusal" && !LEFT_TO_JOB.has(last.value.code);
    return { answers, failure: isFailure ? refusalFromProto(last.value) : undefined };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { answers: [], failure: error };
  }
}

/** A fee is refused rather than queued behind another movement on the account. */
function mayPass(failure: Refusal): boolean {
  return isTransientFailure(failure) || failure.code === "account_busy";
}

type Answered = {
  readonly fees: readonly { readonly key: string; readonly answer: TransferAnswer | undefined }[];
  readonly paid: TransferAnswer | undefined;
};

/** What is not debited returns to the pool. Only a refused payout ends a withdrawal otherwise than decided. */
async function conclude(
  deps: Deps,
  departure: Departure,
  { fees, paid }: Answered,
  context: CallContext,
): Promise<Completed> {
  for (const { key, answer } of fees) {
    const state = debitState(answer);
    if (state === TransferState.REFUSED) await returnReserve(deps, key);
    else if (state !== TransferState.APPLIED && state !== "left") {
      throw outcomeUnknown(departure, "Performance fees are still being collected.");
    }
  }
  if (departure.kind === "EXIT" || departure.effective === 0n) return await releaseAndEnd(deps, departure, context);
  const answer = paid?.answer;
  if (answer?.$case === "refusal") {
    const refusal = refusalFromProto(answer.value);
    if (refusal.code === DUPLICATE) return await refusePayout(deps, departure, refusal, context);
  }
  const result = answer?.$case === "result" ? answer.value : undefined;
  switch (result?.state) {
    case TransferState.APPLIED: {
      const dealId = result.legs[0]?.dealId ?? 0n;
      assert(dealId > 0n, "an applied transfer has a deal");
      failpoint("before_ended", departure.kind);
      // platform has released the account lock in the commit that recorded the payout.
      return await end(deps, departure, dealId);
    }
    case TransferState.REFUSED:
      return await refusePayout(deps, departure, refusalOfTransfer(result), context);
    case TransferState.REVIEW:
      return { ...departure, doubt: "REVIEW" };
    default:
      return { ...departure, doubt: "UNKNOWN" };
  }
}

/** "left": nothing was recorded, and the job of `fee` collects it: the payment account is archived, or the account lock has ended with the payout. */
function debitState(answer: TransferAnswer | undefined): TransferState | "left" | undefined {
  if (answer?.answer?.$case !== "refusal") return answer?.answer?.value.legs[0]?.state;
  return LEFT_TO_JOB.has(answer.answer.value.code) ? "left" : undefined;
}

/** `fee` shows what is debited when the caller has its answer. Without this it looks the payments up. */
async function reportFees(deps: Deps, fees: Answered["fees"], context: CallContext): Promise<void> {
  const answered = fees.filter(({ answer }) => answer !== undefined);
  if (answered.length === 0) return;
  try {
    await deps.fees.recordAnswers({ fees: answered }, withReplyReserve(context));
  } catch (error) {
    deps.log.info("answers for fees not recorded, they are looked up later", { count: answered.length, error });
  }
}

/** Returns the reserve to the pool before the account lock is released. */
async function refusePayout(
  deps: Deps,
  departure: Departure,
  refusal: Refusal,
  context: CallContext,
): Promise<Completed> {
  await returnReserve(deps, departureKey(departure));
  return (await refuse(deps, departure, refusal, context)) ?? (await getDeparture(deps.pool, departure.operationId));
}
