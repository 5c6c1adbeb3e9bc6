import { answerWithin } from "#kernel/jobs/answer-within.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { HoldRequest, HoldResponse, ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { accountBusy, factsNotRead, turnNotCome } from "../domain/account-obstacles.ts";
import { holdReasons } from "../domain/hold-reasons.ts";
import { readOnce } from "../protocol/history/account-reading.ts";
import { type Facts, readSharedFacts } from "../protocol/history/read-facts.ts";
import { heldFacts, type HoldQueues, intendedWithdrawal } from "../protocol/hold-queues.ts";
import { takeTrading } from "../protocol/change-account.ts";
import { refuse } from "../refusals.ts";
import { findLegBeforeLock, type RequestedLock, withdrawRequest } from "../store/account-locks.ts";

/** Maximum wait for earlier legs, and for the platform to show their deals. */
const HOLD_WAIT_MS = 5_000;
/** A Master that takes longer does not delay the answer about the account. */
const MASTER_WITHIN_MS = 2_000;
/** An account that still trades after so many commands that were confirmed is not assigned. */
const MAX_TAKES = 2;
/** Pause between two reads of the queue of the login. */
const RETRY_MS = 50;

type HoldDeps = Deps & { readonly holds: HoldQueues };

/**
 * Acquires the account lock of a login: first the request, after which no new leg gets a permit, then the grant once
 * all earlier legs have ended, then the facts. Facts are returned only when the balance is the sum of the log.
 */
export async function hold(deps: HoldDeps, request: HoldRequest, context: CallContext): Promise<HoldResponse> {
  const { login, lockOwner, acceptsArchived = false, masterLogin } = request;
  if (lockOwner === "") throw refuse("validation_failed", "The lock owner is required.");
  // What begins here could not move any money.
  const [closed] = holdReasons({ login, gate: deps.gate.read() });
  if (closed !== undefined) throw closed;
  const byMs = performance.now() + Math.min(HOLD_WAIT_MS, remainingMs(context) - REPLY_RESERVE_MS);
  const withdrawal = intendedWithdrawal(request);
  let isServed = false;
  let hasObstacle = false;
  let isGranted = false;
  let takes = 0;
  do {
    const lock = await deps.holds.requesting
      .add({ login, lockOwner, withdrawal, acceptsArchived }, byMs)
      .catch(lateIsUnserved);
    // What the tries before have found out stays.
    if (lock === "unserved") break;
    isServed = true;
    hasObstacle = lock?.obstacle !== undefined;
    isGranted = lock !== undefined && !hasObstacle;
    // An account of this service cannot trade as a rule, and for the others one reading of the facts is enough in this order.
    if (lock !== undefined && isGranted && takes === 0 && !lock.isCreated && isToBeTaken(deps, request, lock.log)) {
      takes += 1;
      await takeTrading(deps, login);
    }
    const [facts, master] = isGranted
      ? await Promise.all([readAgreeing(deps, login, byMs), readMaster(deps, masterLogin)])
      : [];
    if (facts !== undefined && !(facts.mayTrade && isToBeTaken(deps, request, logOf(facts)))) {
      return { ...heldFacts(facts), ...(master && { master }) };
    }
    if (facts !== undefined) {
      if (takes === MAX_TAKES) throw stillTrading(login);
      takes += 1;
      await takeTrading(deps, login);
      continue;
    }
    await deps.loginSignals.wait(login, RETRY_MS);
  } while (performance.now() < byMs);
  // A granted lock stays: another call of the same lock owner may have received the grant. Only Release ends it.
  const present = hasObstacle ? await findLegBeforeLock(deps.pool, login) : undefined;
  await withdrawRequest(deps.pool, login, lockOwner);
  if (!isServed) throw turnNotCome();
  throw isGranted ? factsNotRead() : accountBusy(present);
}

/** Of the account as its log has it, or as the platform shows it. */
function isToBeTaken({ settings }: HoldDeps, { takeTrading: wanted }: HoldRequest, log: RequestedLock["log"]): boolean {
  if (wanted === undefined || !settings.takesTrading || log.hasPositions) return false;
  return log.balanceMinor >= moneyFromProto(wanted.minBalance, "min_balance").minor;
}

function logOf({ balanceMinor, positions }: Facts): RequestedLock["log"] {
  return { balanceMinor, hasPositions: positions.length > 0 };
}

function stillTrading(login: string): Error {
  return refuse(
    "platform_rejected",
    `The trading platform has confirmed that trading on account ${login} is disabled, and shows that it is not.`,
  );
}

/** Undefined while the platform and the log differ, or the platform cannot be read. */
async function readAgreeing(deps: HoldDeps, login: string, byMs: number): Promise<Facts | undefined> {
  try {
    const facts = await readSharedFacts(deps, deps.holds.facts, login, byMs);
    return facts.isComplete ? facts : undefined;
  } catch (error) {
    if (error instanceof Mt5Error || isLate(error)) return undefined;
    throw error;
  }
}

/** With the same requests to the platform. A caller that does not get it reads the Master itself, and learns why. */
async function readMaster(deps: HoldDeps, login: string | undefined): Promise<ReadAccountResponse | undefined> {
  if (login === undefined) return undefined;
  const asked = readOnce(deps, login).catch(() => undefined);
  const reading = await answerWithin(asked, MASTER_WITHIN_MS, undefined);
  return reading?.complete === true ? reading : undefined;
}

function lateIsUnserved(error: unknown): "unserved" {
  if (!isLate(error)) throw error;
  return "unserved";
}

/** The time for this Hold was over before its set began. */
function isLate(error: unknown): boolean {
  return error instanceof Refusal && error.code === "deadline_exceeded";
}
