import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { refusalOfTransfer } from "#kernel/transfer-refusals.ts";
import { isTransientFailure, retryLevel } from "#kernel/transient-failure.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { departureKey } from "../../domain/departure.ts";
import { type Departure, getDeparture } from "../../store/departures.ts";
import { recordFeesRequest } from "../../messages/fee-facts.ts";
import { type FeeDecision, findUnrecordedOf } from "../../store/fee-decisions.ts";
import { listFeeFloors } from "../../store/fees.ts";
import { settleRecorded } from "../fees/record-fees.ts";
import { end, outcomeUnknown, refuse, releaseAndEnd } from "./end.ts";
import { returnReserve } from "./return-reserve.ts";
import { enqueueExit } from "../exit/send-exit.ts";
import { postUnderLock } from "../posting/send-postings.ts";

/** A departure after a turn. Of a decided one, `doubt` is why the outcome of its payout is not known. */
export type Completed = Departure & { readonly doubt?: "UNKNOWN" | "REVIEW" };

/** `fees`: what was decided with it, null when nothing was; undefined when they are to be read, because another process has decided it. */
export type DepartureWithFees = Departure & { readonly fees?: FeeDecision | null };

/** A platform replica that was killed is replaced within a second or two. */
const RETRY_PAUSE_MS = 200;
/** Shortest remaining wait budget that is worth another call. */
const MIN_CALL_MS = 1_500;

/**
 * Completes a decided departure under its account lock: what an Investor takes out of the pool is to leave the Master, its results are posted, its fees
 * collected, and a withdrawal is paid out. Safe to repeat until it has ended.
 */
export async function complete(deps: Deps, departure: DepartureWithFees, context: CallContext): Promise<Completed> {
  const { kind, investorLogin: login, lockOwner } = departure;
  const key = departureKey(departure);
  assert(lockOwner !== null, "a decided departure has the account lock");
  if (kind === "EXIT") await enqueueExit(deps, departure, context);
  try {
    if (!(await postUnderLock(deps, { login, lockOwner }, context))) {
      throw outcomeUnknown(departure, "Trading results are still being posted.");
    }
    if (departure.fees !== null) await collectFees(deps, { ...departure, lockOwner }, context);
  } catch (error) {
    // Another process may have completed it: then this account lock is released.
    const present = await getDeparture(deps.pool, departure.operationId);
    if (present.state !== "DECIDED") return present;
    const level = error instanceof Refusal ? "info" : retryLevel(error);
    deps.log[level]("fees of departure not collected, retry scheduled", { key, login, error });
    throw outcomeUnknown(departure, "Performance fees are still being collected.");
  }
  failpoint("after_collection", kind);
  return await (kind === "EXIT" ? releaseAndEnd(deps, departure, context) : payOut(deps, departure, context));
}

/** Has the fees debited that were decided, in one call: `fee` records them first. What is not debited returns to the pool. */
async function collectFees(
  deps: Deps,
  departure: DepartureWithFees & { readonly lockOwner: string },
  context: CallContext,
): Promise<void> {
  const { investorLogin, lockOwner } = departure;
  const key = departureKey(departure);
  const fees = departure.fees ?? (await findUnrecordedOf(deps.pool, key));
  const [owned] = await listFeeFloors(deps.pool, [investorLogin]);
  assert(owned !== undefined, "an account with a held log is filed");
  const { floor, filedNumber } = owned;
  const decision = fees && recordFeesRequest(fees);
  const request = { key, lockOwner, decision, floor: moneyToProto(usd(floor)), filedNumber };
  const { recorded, uncollectedKeys } = await deps.fees.collect(request, withReplyReserve(context));
  if (fees !== undefined && recorded !== undefined) await settleRecorded(deps, fees, recorded);
  for (const uncollected of uncollectedKeys) await returnReserve(deps, uncollected);
}

/** Pays out what was decided, or nothing when it is 0.00. Only a refused payout ends it otherwise. */
async function payOut(deps: Deps, departure: Departure, context: CallContext): Promise<Completed> {
  if (departure.effective === 0n) return await releaseAndEnd(deps, departure, context);
  const result = await sendPayout(deps, departure, context);
  if (result instanceof Refusal) return await refusePayout(deps, departure, result, context);
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

/**
 * The result of the payout; undefined while it is not known. After a lost answer the request is repeated while the caller waits: platform executes a key
 * once. A refusal: it was paid before the database was restored to an older time.
 */
async function sendPayout(
  { platform }: Deps,
  departure: Departure,
  context: CallContext,
): Promise<TransferResult | Refusal | undefined> {
  const { investorLogin: login, lockOwner, effective, comment } = departure;
  const leg = { login, kind: MovementKind.WITHDRAWAL, amount: moneyToProto(usd(-(effective ?? 0n))) };
  const request = {
    key: departureKey(departure),
    lockOwner: lockOwner ?? "",
    legs: [leg],
    upTo: undefined,
    enqueue: false,
    comment,
    sendBefore: undefined,
    releaseLock: true,
  };
  for (let isLost = false; ; await sleep(RETRY_PAUSE_MS)) {
    try {
      return await platform.transfer(request, withReplyReserve(context));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // After a lost answer a later refusal does not prove that the first request was not recorded.
      if (!isLost && error.code === "possible_duplicate") return error;
      if (!isTransientFailure(error) || remainingMs(context) < MIN_CALL_MS) return undefined;
      isLost ||= error.outcome !== "not_executed";
    }
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
